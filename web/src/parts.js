// Rigid parts as instances of few shapes, and parts that change their form: rods, springs, beams.
import {
  BoxGeometry, BufferAttribute, BufferGeometry, Color, ConeGeometry, CylinderGeometry, DoubleSide, DynamicDrawUsage, Group,
  InstancedMesh, Matrix4, Mesh, MeshLambertMaterial, Quaternion, SphereGeometry, Vector3,
} from 'three';
import {Merged} from './merged.js';

const kinds = {
  box: () => new BoxGeometry(1, 1, 1),
  // along z, of radius 1 and length 1
  cylinder: n => (n > 6 ? new CylinderGeometry(1, 1, 1, n).rotateX(Math.PI / 2) : prism(n)),
  cone: n => new ConeGeometry(1, 1, n).rotateX(Math.PI / 2),
  sphere: n => new SphereGeometry(1, n, Math.max(4, n * 0.6 | 0)),
};

// a cylinder with the fewest vertices
function prism(n) {
  const p = [], m = [], index = [];
  for (let k = 0; k < n; k++) {
    const a = 2 * Math.PI * k / n, c = Math.cos(a), s = Math.sin(a), here = 4 * k, next = 4 * ((k + 1) % n);
    p.push(c, s, -0.5, c, s, 0.5, c, s, -0.5, c, s, 0.5);
    m.push(c, s, 0, c, s, 0, 0, 0, -1, 0, 0, 1);
    index.push(here, next, here + 1, next, next + 1, here + 1);
    if (k > 1) index.push(2, here + 2, here - 2, 3, here - 1, here + 3);
  }
  const attribute = list => new BufferAttribute(new Float32Array(list), 3);
  return new BufferGeometry().setAttribute('position', attribute(p)).setAttribute('normal', attribute(m)).setIndex(index);
}

const Z = new Vector3(0, 0, 1);

export const unitSphere = () => kinds.sphere(24);

export function frameMatrix(f) {
  return new Matrix4().set(f[0], f[1], f[2], f[9], f[3], f[4], f[5], f[10], f[6], f[7], f[8], f[11], 0, 0, 0, 1);
}

// All rigid parts: { kind, body, local, color, modal, first } with local a matrix in the frame of the body.
export class Parts {
  constructor() {
    this.items = Object.fromEntries(Object.keys(kinds).map(k => [k, []]));
    this.items.glass = []; // boxes that do not hide what is inside
    this.group = new Group();
  }

  add(kind, body, local, color, more) {
    const item = {kind, body, local, color: new Color(color), ...more}, opacity = item.opacity ?? 1;
    (this.items[opacity < 1 ? kind + '@' + opacity : kind] ??= []).push(item);
    return item;
  }

  // a geometry of its own under a name
  addGeometry(kind, make) { (this.geometries ??= {})[kind] ??= make(); }

  // a frame of the file, with the shape scaled in its axes
  shape(kind, body, frame, scale, color, more) {
    const local = frameMatrix(frame).scale(new Vector3(...scale));
    return this.add(kind, body, local, color, more);
  }

  build(material, glass, ghost) {
    const total = Object.values(this.items).reduce((n, list) => n + list.length, 0);
    const segments = total > 1500 ? 5 : total > 400 ? 10 : total > 120 ? 24 : 40;
    let double; // files may have triangles either way round
    this.meshes = [];
    for (const [key, list] of Object.entries(this.items)) {
      if (!list.length) continue;
      const [kind, opacity] = key.split('@'), own = this.geometries?.[kind];
      const form = own ?? kinds[kind === 'glass' ? 'box' : kind](segments);
      const look = kind === 'glass' ? glass : opacity && !ghost ? lambert('#ffffff', {transparent: true, opacity: +opacity, depthWrite: false, polygonOffset: true, polygonOffsetFactor: -1, polygonOffsetUnits: -4}) : own && !ghost ? (double ??= lambert('#ffffff', {side: DoubleSide})) : material;
      const mesh = new InstancedMesh(form, look, list.length);
      mesh.instanceMatrix.setUsage(DynamicDrawUsage);
      mesh.frustumCulled = false;
      mesh.castShadow = mesh.receiveShadow = !ghost && total < 400 && kind !== 'glass' && !opacity;
      mesh.items = list;
      list.forEach((item, i) => mesh.setColorAt(i, item.color));
      this.group.add(mesh);
      this.meshes.push(mesh);
      if (total > 400 && !own) this.group.add((mesh.merged = new Merged(mesh)).mesh);
    }
  }

  recolor() {
    for (const mesh of this.meshes) {
      mesh.items.forEach((item, i) => mesh.setColorAt(i, item.shown ?? item.color));
      mesh.instanceColor.needsUpdate = true;
      mesh.merged?.recolor();
    }
  }

  update(motion) {
    const body = new Matrix4(), out = new Matrix4();
    for (const mesh of this.meshes) {
      mesh.items.forEach((item, i) => {
        if (item.dynamic) {
          out.copy(item.dynamic(motion));
        } else if (item.body < 0) {
          out.copy(item.local);
        } else {
          body.fromArray(motion.matrices, 16 * item.body);
          out.copy(item.local);
          if (item.modal) shift(out, item, motion.eta);
          out.premultiply(body);
        }
        mesh.setMatrixAt(i, out);
      });
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
      mesh.merged?.update();
    }
  }
}

function shift(m, item, eta) {
  const e = m.elements, p = item.modal;
  for (let j = 0; j < p.length / 3; j++) {
    for (let k = 0; k < 3; k++) e[12 + k] += p[3 * j + k] * eta[item.first + j];
  }
}

// The world position of a marker { body, frame, modal, first }.
export function markerPoint(marker, motion, out) {
  const f = marker.frame;
  out.set(f[9], f[10], f[11]);
  if (marker.modal) {
    for (let j = 0; j < marker.modal.length / 3; j++) {
      const e = motion.eta[marker.first + j];
      out.x += marker.modal[3 * j] * e;
      out.y += marker.modal[3 * j + 1] * e;
      out.z += marker.modal[3 * j + 2] * e;
    }
  }
  if (marker.body >= 0) out.applyMatrix4(new Matrix4().fromArray(motion.matrices, 16 * marker.body));
  return out;
}

// The matrix that lays a shape along z between two points; part: [from, to] of the way.
export function between(a, b, radius, part = [0, 1], matrix = new Matrix4()) {
  const d = b.clone().sub(a), length = d.length();
  const q = new Quaternion().setFromUnitVectors(Z, length > 0 ? d.clone().divideScalar(length) : Z);
  const at = a.clone().addScaledVector(d, (part[0] + part[1]) / 2);
  return matrix.compose(at, q, new Vector3(radius, radius, Math.max(1e-9, length * (part[1] - part[0]))));
}

// ---------------------------------------------------------------------- tubes

// A tube through stations (points with two axes of the section), whose vertices are computed anew for each picture.
export class Tube {
  constructor(stations, ring, material, closed = true) {
    this.n = stations;
    this.ring = ring; // points of the section [y, z] and normals [y, z]
    const r = ring.length, vertices = stations * r + (closed ? 2 * r : 0), index = [];
    for (let i = 0; i + 1 < stations; i++) {
      for (let k = 0; k < r; k++) {
        const a = i * r + k, b = i * r + (k + 1) % r;
        index.push(a, b, a + r, b, b + r, a + r);
      }
    }
    for (let k = 1; closed && k + 1 < r; k++) {
      const first = stations * r, last = first + r;
      index.push(first, first + k + 1, first + k, last, last + k, last + k + 1);
    }
    this.closed = closed;
    this.geometry = new BufferGeometry();
    this.geometry.setAttribute('position', new BufferAttribute(new Float32Array(3 * vertices), 3).setUsage(DynamicDrawUsage));
    this.geometry.setAttribute('normal', new BufferAttribute(new Float32Array(3 * vertices), 3).setUsage(DynamicDrawUsage));
    this.geometry.setIndex(index);
    this.mesh = new Mesh(this.geometry, material);
    this.mesh.frustumCulled = false;
    this.mesh.castShadow = this.mesh.receiveShadow = true;
  }

  // p: point, x: tangent, y, z: axes of the section (arrays), scale of y and z
  station(i, p, x, y, z, sy, sz) {
    const P = this.geometry.attributes.position.array, N = this.geometry.attributes.normal.array, r = this.ring.length;
    this.ring.forEach(([a, b, na, nb], k) => {
      const at = 3 * (i * r + k);
      for (let c = 0; c < 3; c++) {
        P[at + c] = p[c] + a * sy * y[c] + b * sz * z[c];
        N[at + c] = na * y[c] + nb * z[c];
      }
      const end = !this.closed ? -1 : i === 0 ? 3 * (this.n * r + k) : i === this.n - 1 ? 3 * ((this.n + 1) * r + k) : -1;
      for (let c = 0; end >= 0 && c < 3; c++) {
        P[end + c] = P[at + c];
        N[end + c] = i === 0 ? -x[c] : x[c];
      }
    });
  }

  // color(station, y, z) of each point of the surface, y and z in parts of the section; it may return the same object
  paint(color) {
    const r = this.ring.length, {geometry, n} = this;
    if (!geometry.attributes.color) geometry.setAttribute('color', new BufferAttribute(new Float32Array(geometry.attributes.position.array.length), 3).setUsage(DynamicDrawUsage));
    const C = geometry.attributes.color.array;
    for (let i = 0; i < n; i++) this.ring.forEach(([a, b], k) => {
      color(i, a, b).toArray(C, 3 * (i * r + k));
      const end = !this.closed ? -1 : i === 0 ? n * r + k : i === n - 1 ? (n + 1) * r + k : -1;
      for (let c = 0; end >= 0 && c < 3; c++) C[3 * end + c] = C[3 * (i * r + k) + c];
    });
    geometry.attributes.color.needsUpdate = true;
  }

  done() {
    this.geometry.attributes.position.needsUpdate = this.geometry.attributes.normal.needsUpdate = true;
  }
}

// sections with edge or diameter 1; corners of a box belong to two faces
export const roundSection = n => Array.from({length: n}, (_, k) => {
  const a = 2 * Math.PI * k / n, c = Math.cos(a), s = Math.sin(a);
  return [c / 2, s / 2, c, s];
});
export const boxSection = () => [
  [0.5, -0.5, 1, 0], [0.5, 0.5, 1, 0], [0.5, 0.5, 0, 1], [-0.5, 0.5, 0, 1],
  [-0.5, 0.5, -1, 0], [-0.5, -0.5, -1, 0], [-0.5, -0.5, 0, -1], [0.5, -0.5, 0, -1],
];

// A coil between two points: straight ends, turns in between.
export class Coil {
  constructor(turns, radius, wire, material) {
    Object.assign(this, {turns, radius, wire});
    this.n = turns * 14 + 9;
    this.tube = new Tube(this.n, roundSection(6), material);
    this.mesh = this.tube.mesh;
  }

  update(a, b) {
    const d = b.clone().sub(a), L = d.length() || 1e-9, z = d.divideScalar(L);
    const x = new Vector3(Math.abs(z.x) < 0.7 ? 1 : 0, Math.abs(z.x) < 0.7 ? 0 : 1, 0).cross(z).normalize();
    const y = new Vector3().crossVectors(z, x), lead = 0.12, p = new Vector3(), q = new Vector3(), t = new Vector3();
    const at = (s, out) => { // s = 0 .. 1
      const inside = Math.min(1, Math.max(0, (s - lead) / (1 - 2 * lead))), angle = 2 * Math.PI * this.turns * inside;
      const edge = Math.min(1, Math.max(0, Math.min(s, 1 - s) / lead - 0.5) * 2), r = this.radius * edge;
      return out.copy(a).addScaledVector(z, s * L).addScaledVector(x, r * Math.cos(angle)).addScaledVector(y, r * Math.sin(angle));
    };
    const n1 = new Vector3(), n2 = new Vector3();
    for (let i = 0; i < this.n; i++) {
      const s = i / (this.n - 1);
      at(s, p);
      at(Math.min(1, s + 1e-3), q);
      t.copy(q).sub(at(Math.max(0, s - 1e-3), q.clone())).normalize();
      n1.crossVectors(t, z);
      if (n1.lengthSq() < 1e-6) n1.copy(x);
      n1.normalize();
      n2.crossVectors(t, n1);
      this.tube.station(i, p.toArray(), t.toArray(), n1.toArray(), n2.toArray(), this.wire * 2, this.wire * 2);
    }
    this.tube.done();
  }
}

export const lambert = (color, more) => new MeshLambertMaterial({color, ...more});
