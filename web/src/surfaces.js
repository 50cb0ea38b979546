// Planes and roads that spheres and wheels touch: thin lines on a faint ground, which hide nothing (src/view/surface.h).
import {BufferAttribute, BufferGeometry, DoubleSide, DynamicDrawUsage, Group, LineBasicMaterial, LineSegments, Matrix4, Mesh, MeshBasicMaterial, Vector3} from 'three';
import {frameMatrix, markerPoint} from './parts.js';

export const GROUND = '#7d8b9f';

// world matrix of a marker; modes shift its origin
export function markerMatrix(marker, motion, out = new Matrix4()) {
  out.copy(frameMatrix(marker.frame));
  if (marker.body >= 0) out.premultiply(new Matrix4().fromArray(motion.matrices, 16 * marker.body));
  return marker.modal ? out.setPosition(markerPoint(marker, motion, new Vector3())) : out;
}

// the force or rolling joint that a surface belongs to
export const touched = (scene, s) => (s.joint >= 0 ? scene.joints[s.joint] : scene.forces[s.force]);

class Surface {
  constructor(data, force, motion) {
    Object.assign(this, data, {marker: force.a, owner: force.name, motion, n: data.edges.length / 6});
    this.points = new Float32Array(this.plane ? this.cells() : data.edges);
    this.rows = this.points.length / 3 / this.columns;
    const attribute = new BufferAttribute(this.points, 3).setUsage(DynamicDrawUsage), position = index => new BufferGeometry().setAttribute('position', attribute).setIndex(index);
    const look = {color: GROUND, transparent: true, depthWrite: false};
    this.group = new Group();
    this.group.matrixAutoUpdate = false;
    this.fill = new Mesh(position(this.triangles()), new MeshBasicMaterial({...look, opacity: 0.09, side: DoubleSide}));
    this.lines = new LineSegments(position(this.segments()), new LineBasicMaterial({...look, opacity: 0.5}));
    for (const o of [this.fill, this.lines]) {
      o.frustumCulled = false;
      o.raycast = () => {}; // bodies behind it can be pointed at
      this.group.add(o);
    }
  }

  // a rectangle in about ten cells along its longer side
  cells() {
    const e = this.edges, corner = k => new Vector3(e[3 * k], e[3 * k + 1], e[3 * k + 2]), [a, b, c, d] = [0, 1, 2, 3].map(corner);
    const long = a.distanceTo(c), wide = a.distanceTo(b), cell = Math.max(long, wide) / 10, count = x => Math.max(1, Math.round(x / cell));
    const rows = count(long), out = [];
    this.columns = count(wide) + 1;
    for (let i = 0; i <= rows; i++) for (let k = 0; k < this.columns; k++) {
      const left = a.clone().lerp(c, i / rows), right = b.clone().lerp(d, i / rows);
      out.push(...left.lerp(right, k / (this.columns - 1)).toArray());
    }
    return out;
  }

  columns = 2;

  at(i, k) { return i * this.columns + k; }

  triangles() {
    const out = [];
    for (let i = 0; i + 1 < this.rows; i++) for (let k = 0; k + 1 < this.columns; k++) {
      out.push(this.at(i, k), this.at(i, k + 1), this.at(i + 1, k), this.at(i, k + 1), this.at(i + 1, k + 1), this.at(i + 1, k));
    }
    return out;
  }

  // of a long road every few stations have a line across
  segments() {
    const out = [], step = this.plane ? 1 : Math.ceil(this.rows / 60);
    for (let i = 0; i < this.rows; i++) for (let k = 0; k < this.columns; k++) {
      if (i + 1 < this.rows) out.push(this.at(i, k), this.at(i + 1, k));
      if (k + 1 < this.columns && (i % step === 0 || i === this.rows - 1)) out.push(this.at(i, k), this.at(i, k + 1));
    }
    return out;
  }

  update() {
    markerMatrix(this.marker, this.motion, this.group.matrix);
    if (!this.heights) return;
    const {i, j, f} = this.motion.at, h = this.heights;
    for (let k = 0; k < 2 * this.n; k++) {
      const c = h[k >> 1];
      this.points[3 * k + this.up] = c[i] + f * (c[j] - c[i]);
    }
    for (const o of [this.fill, this.lines]) o.geometry.attributes.position.needsUpdate = true;
  }

  // the nearest point of the middle line, in the axes of A
  foot(x, out) {
    const p = this.points, a = new Vector3(), b = new Vector3(), q = new Vector3(), middle = (k, v) => v.set(...[0, 1, 2].map(c => (p[6 * k + c] + p[6 * k + 3 + c]) / 2));
    let best = Infinity;
    for (let k = 0; k + 1 < this.n; k++) {
      middle(k, a);
      middle(k + 1, b).sub(a);
      q.copy(a).addScaledVector(b, Math.min(1, Math.max(0, x.clone().sub(a).dot(b) / (b.lengthSq() || 1))));
      const far = q.distanceToSquared(x);
      if (far < best) { best = far; out.copy(q); }
    }
    return out;
  }
}

export class Surfaces {
  constructor(scene, motion) {
    this.group = new Group();
    this.list = scene.surfaces.map(s => new Surface(s, touched(scene, s), motion));
    for (const s of this.list) this.group.add(s.group);
    Object.assign(this, {scene, motion});
  }

  update() { for (const s of this.list) s.update(); }

  // where a force of a contact or tyre acts: out => the point in the world
  point(force) {
    const {motion} = this, [shape, up, radius] = force.contact, own = this.list.find(s => this.scene.forces[s.force] === force);
    const A = new Matrix4(), x = new Vector3(), n = new Vector3();
    return out => {
      markerMatrix(force.a, motion, A);
      markerPoint(force.b, motion, x).applyMatrix4(A.clone().invert());
      if (own && !own.plane) return own.foot(x, out).applyMatrix4(A);
      if (shape === 'sphere-plane') n.set(up === 0, up === 1, up === 2);
      else n.set(x.x, x.y, shape === 'pin-hole' ? 0 : x.z).normalize().multiplyScalar(shape === 'sphere-sphere' ? 1 : -1);
      return out.copy(x).addScaledVector(n, -radius).applyMatrix4(A);
    };
  }
}
