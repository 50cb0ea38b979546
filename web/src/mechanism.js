// The mechanism of a scene: bodies, joints, springs, beams; one object for each motion that is shown.
import {Group, Matrix4, Quaternion, Vector3} from 'three';
import {meshGeometry} from './meshes.js';
import {gridLines, plateGeometry, rimGeometry, tubeGeometry} from './outlines.js';
import {Rope} from './ropes.js';
import {GROUND, markerMatrix, Surfaces} from './surfaces.js';
import {between, boxSection, Coil, frameMatrix, lambert, markerPoint, Parts, roundSection, Tube} from './parts.js';

// colours that differ for most readers, for bodies one after the other
export const palette = ['#4c8bf5', '#f08c2e', '#35a77c', '#c94f7c', '#8a6fd1', '#c9a227', '#2fa4b8', '#9a6b4b', '#7fa33a', '#d9634c'];
const STEEL = '#8d97a5', DARK = '#4a5363', SPRING = '#e0574f', DAMPER = '#6f7d91', RAIL = '#aab3c0', BUSHING = '#4caf7a';

export class Mechanism {
  constructor(scene, motion, look = {}) {
    this.scene = scene;
    this.motion = motion;
    this.ghost = look.ghost;
    this.color = look.color; // of everything, if given
    this.group = new Group();
    this.parts = new Parts();
    this.updates = [];
    this.beams = []; // those of the scene with their tubes
    this.modalBeams = [];
    this.bent = []; // parts of modal bodies of nodes, with the nodes that they follow
    this.unit = scene.part;
    this.many = scene.bodies.length > 300; // fewer triangles
    const more = look.ghost ? {transparent: true, opacity: look.opacity ?? 0.3, depthWrite: false, polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 8} : {};
    this.material = color => lambert(look.color ?? color, more);
    this.firstMode = new Map(scene.modal.map(m => [m.body, m.first]));
    for (const marker of this.markers()) if (marker.modal) marker.first = this.firstMode.get(marker.body);
    this.addBodies(look.color);
    if (!look.ghost) this.addJoints();
    this.addForces();
    this.addRopes();
    this.addOutlines();
    if (!look.ghost) this.addSurfaces();
    scene.beams.forEach(b => this.addBeam(b));
    scene.modal.forEach(m => (m.stations ? this.addModalBeam(m) : this.addModalNodes(m)));
    this.parts.build(lambert('#ffffff', more), lambert('#ffffff', {transparent: true, opacity: look.ghost ? 0.12 : 0.28, depthWrite: false}), look.ghost);
    this.group.add(this.parts.group);
  }

  *markers() {
    for (const j of [...this.scene.joints, ...this.scene.forces]) yield* [j.a, j.b];
    for (const m of this.scene.markers) yield m.a;
    for (const r of this.scene.ropes) for (const p of r.places) yield p.a;
  }

  bodyColor(body) { return this.color ?? (body < 0 ? STEEL : palette[body % palette.length]); }

  point(marker, out = new Vector3()) { return markerPoint(marker, this.motion, out); }

  // -------------------------------------------------------------------- bodies

  addBodies(color) {
    for (const s of this.scene.shapes) {
      const c = color ?? s.color ?? this.bodyColor(s.body), [a, b, d] = s.size;
      const what = {owner: this.scene.bodies[s.body] ?? 'ground', isBody: s.body >= 0, opacity: s.opacity, modal: s.modal, first: this.firstMode.get(s.body)};
      const put = (kind, scale) => this.parts.shape(kind, s.body, s.frame, scale, c, what);
      if (s.glass) put('glass', s.kind === 'box' ? [a, b, d] : s.kind === 'sphere' ? [2 * a, 2 * a, 2 * a] : [2 * a, 2 * a, b]);
      else if (s.kind === 'box') put('box', [a, b, d]);
      else if (s.kind === 'sphere' && s.wheel) this.ball(s, put, color);
      else if (s.kind === 'sphere') put('sphere', [a, a, a]);
      else if (s.kind === 'cylinder' && s.wheel) this.wheel(s, put, color);
      else if (s.kind === 'cylinder') put('cylinder', [a, a, b]);
      else if (s.kind === 'cone') put('cone', [a, a, b]);
      else if (s.kind === 'mesh') {
        const name = `mesh ${s.mesh} ${s.size}`; // the factors are in the geometry: normals stay right
        this.parts.addGeometry(name, () => meshGeometry(this.scene.meshes[s.mesh], s.size));
        put(name, [1, 1, 1]);
      }
      else if (s.kind === 'capsule') {
        put('cylinder', [a, a, b]);
        for (const end of this.many ? [] : [-1, 1]) {
          const local = frameMatrix(s.frame).multiply(new Matrix4().makeTranslation(0, 0, end * b / 2));
          this.parts.add('sphere', s.body, local.scale(new Vector3(a, a, a)), c, what);
        }
      }
    }
  }

  // a tyre shows that it turns
  wheel(s, put, color) {
    const [r, width] = s.size;
    put('cylinder', [r, r, width]).color.set(color ?? '#3b4250');
    if (color) return;
    const hub = put('cylinder', [0.62 * r, 0.62 * r, 1.02 * width]);
    hub.color.set(STEEL);
    for (let k = 0; k < 5; k++) {
      const local = frameMatrix(s.frame).multiply(new Matrix4().makeRotationZ(2 * Math.PI * k / 5))
        .multiply(new Matrix4().makeTranslation(0.38 * r, 0, 0));
      this.parts.add('cylinder', s.body, local.scale(new Vector3(0.09 * r, 0.09 * r, 1.05 * width)), DARK, {owner: this.scene.bodies[s.body], isBody: true});
    }
  }

  // and so does a ball: six dots
  ball(s, put, color) {
    const [r] = s.size, what = {owner: this.scene.bodies[s.body], isBody: true};
    put('sphere', [r, r, r]);
    for (let k = 0; k < (color ? 0 : 6); k++) {
      const at = [0, 1, 2].map(i => (i === k >> 1 ? (k & 1 ? 0.62 : -0.62) * r : 0));
      const local = frameMatrix(s.frame).multiply(new Matrix4().makeTranslation(...at)).scale(new Vector3(0.4 * r, 0.4 * r, 0.4 * r));
      this.parts.add('sphere', s.body, local, DARK, what);
    }
  }

  // -------------------------------------------------------------------- joints

  addJoints() {
    const r = 0.02 * this.unit;
    this.rails = [];
    for (const j of this.scene.joints) {
      const on = j.b.body >= 0 ? j.b : j.a, more = {owner: 'joint ' + j.name, modal: on.modal, first: on.first};
      const put = (kind, scale, color = DARK) => this.parts.shape(kind, on.body, on.frame, scale, color, more);
      const rail = () => this.rail(j);
      switch (j.type) {
        case 'revolute': put('cylinder', [r, r, 3.2 * r]); if (!this.many) put('cylinder', [0.55 * r, 0.55 * r, 3.6 * r], '#d5dae2'); break;
        case 'cylindrical': case 'screw': put('cylinder', [r, r, 3.5 * r]); rail(); break;
        case 'prismatic': put('box', [3 * r, 3 * r, 4 * r]); rail(); break;
        case 'point-on-line': put('sphere', [1.1 * r, 1.1 * r, 1.1 * r]); rail(); break;
        case 'planar': case 'point-on-plane': put('cylinder', [1.8 * r, 1.8 * r, 0.5 * r]); break;
        case 'universal': put('cylinder', [0.6 * r, 0.6 * r, 3 * r]); put('box', [1.8 * r, 1.8 * r, 1.8 * r]); break;
        case 'fixed': put('box', [2 * r, 2 * r, 2 * r]); break;
        case 'rolling-wheel': case 'rolling-ball': break; // wheel, ball and plane are drawn
        case 'flat-on-curve': case 'curve-on-curve': break; // faces and curves are drawn
        case 'roller-on-curve': put('cylinder', [0.8 * r, 0.8 * r, 3 * r]); break;
        case 'knife-edge': put('box', [5 * r, 0.4 * r, 1.6 * r]); break;
        case 'distance': this.link('cylinder', {...j, name: 'joint ' + j.name}, 0.35 * r, STEEL); put('sphere', [0.8 * r, 0.8 * r, 0.8 * r]); break;
        default: put('sphere', [1.3 * r, 1.3 * r, 1.3 * r]);
      }
      for (const end of [j.a, j.b]) if (end.body < 0 && !/prismatic|cylindrical|-on-|planar|screw|rolling|knife/.test(j.type)) this.support(end.frame, j);
    }
    this.addRails();
  }

  // a foot under a point of the ground
  support(frame, j) {
    const up = new Vector3(...this.scene.up), h = 0.055 * this.unit, at = new Vector3(frame[9], frame[10], frame[11]);
    const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), up);
    at.addScaledVector(up, -h / 2);
    this.parts.add('cone', -1, new Matrix4().compose(at, turn, new Vector3(0.62 * h, 0.62 * h, h)), STEEL, {owner: 'joint ' + j.name});
    if (this.many) return;
    at.addScaledVector(up, -h / 2);
    this.parts.add('cylinder', -1, new Matrix4().compose(at, turn, new Vector3(0.8 * h, 0.8 * h, 0.12 * h)), DARK, {owner: 'joint ' + j.name});
  }

  // the way of a sliding joint: as far as the motion goes, which one look at the pictures tells for all of them
  rail(j) {
    const [base, slider] = j.a.body < 0 || j.b.body >= 0 ? [j.a, j.b] : [j.b, j.a];
    this.rails.push({j, base, slider, low: 0, high: 0});
  }

  addRails() {
    const inverse = new Matrix4(), p = new Vector3(), m = this.motion, step = Math.max(1, m.n / 200 | 0);
    for (let i = 0; this.rails.length && i < m.n; i += step) {
      m.set(m.time[i]);
      for (const o of this.rails) {
        inverse.copy(frameMatrix(o.base.frame));
        if (o.base.body >= 0) inverse.premultiply(new Matrix4().fromArray(m.matrices, 16 * o.base.body));
        this.point(o.slider, p).applyMatrix4(inverse.invert());
        o.low = Math.min(o.low, p.z);
        o.high = Math.max(o.high, p.z);
      }
    }
    for (const {j, base, low, high} of this.rails) {
      const r = 0.007 * this.unit, length = high - low + 0.12 * this.unit;
      const local = frameMatrix(base.frame).multiply(new Matrix4().makeTranslation(0, 0, (low + high) / 2));
      this.parts.add('cylinder', base.body, local.scale(new Vector3(r, r, length)), RAIL, {owner: 'joint ' + j.name, modal: base.modal, first: base.first});
    }
  }

  // a shape that is laid between two markers
  link(kind, j, radius, color, part) {
    const a = new Vector3(), b = new Vector3(), m = new Matrix4();
    return this.parts.add(kind, -1, m, this.color ?? color, {
      owner: j.name, isBody: j.isBody, dynamic: () => between(this.point(j.a, a), this.point(j.b, b), radius, part, m),
    });
  }

  // -------------------------------------------------------------------- forces

  addForces() {
    const u = this.unit, many = this.scene.forces.length > 40;
    for (const f of this.scene.forces) {
      if (f.type === 'elastic-tendon') continue; // a rope
      const linear = /^(distance|x|y|z)$/.test(f.along ?? ''), dot = 0.012 * u;
      for (const end of linear && !this.ghost ? [f.a, f.b] : []) {
        if (end.body < 0) this.parts.shape('sphere', -1, end.frame, [dot, dot, dot], DARK, {owner: f.name});
      }
      if (f.type === 'bushing') {
        const on = f.b.body >= 0 ? f.b : f.a, r = 0.026 * u;
        this.parts.shape('sphere', on.body, on.frame, [r, r, r], BUSHING, {owner: f.name, modal: on.modal, first: on.first});
      } else if (linear && /spring|stop/.test(f.type) && f.stiff !== false) {
        if (many) this.link('cylinder', f, 0.008 * u, SPRING);
        else this.spring(f);
        if (f.damped) this.damper(f);
      } else if (linear) {
        this.damper(f);
      } else if (/torsion/.test(f.type)) {
        this.spiral(f);
      }
    }
  }

  addRopes() {
    this.ropes = this.scene.ropes.map(r => new Rope(r, this.motion, 0.005 * this.unit, this.material(r.force >= 0 ? SPRING : DARK)));
    for (const rope of this.ropes) {
      this.group.add(rope.mesh);
      this.updates.push(() => rope.update());
    }
  }

  // curves, cams and faces move with a marker
  addOutlines() {
    this.scene.curves.forEach((c, k) => {
      const joint = this.scene.joints[c.joint], {body, frame, modal, first} = joint[c.end];
      if (c.kind === 'grid') {
        if (this.ghost) return;
        const lines = gridLines(c, GROUND);
        this.group.add(lines);
        this.updates.push(() => markerMatrix(joint[c.end], this.motion, lines.matrix));
        return;
      }
      this.parts.addGeometry('curve ' + k, () => (c.kind === 'plate' ? plateGeometry(c) : tubeGeometry(c)));
      const what = {owner: body >= 0 ? this.scene.bodies[body] : 'joint ' + joint.name, isBody: body >= 0, modal, first};
      this.parts.shape('curve ' + k, body, frame, [1, 1, 1], this.bodyColor(body), what);
      if (c.kind !== 'plate' || this.ghost) return;
      this.parts.addGeometry('rim ' + k, () => rimGeometry(c));
      this.parts.shape('rim ' + k, body, frame, [1, 1, 1], this.bodyColor(body), what).color.multiplyScalar(0.5);
    });
  }

  addSurfaces() {
    this.surfaces = new Surfaces(this.scene, this.motion);
    this.group.add(this.surfaces.group);
    this.updates.push(() => this.surfaces.update());
  }

  spring(f) {
    const u = this.unit, coil = new Coil(8, 0.026 * u, 0.0042 * u, this.material(SPRING)), a = new Vector3(), b = new Vector3();
    coil.mesh.userData.owner = f.name;
    this.group.add(coil.mesh);
    this.updates.push(() => coil.update(this.point(f.a, a), this.point(f.b, b)));
  }

  damper(f) {
    const r = 0.011 * this.unit;
    this.link('cylinder', f, r, DAMPER, [0, 0.5]);
    this.link('cylinder', f, 0.5 * r, RAIL, [0.3, 1]);
  }

  // a torsion spring: rings about the axis
  spiral(f) {
    const on = f.b.body >= 0 ? f.b : f.a, u = this.unit, coil = new Coil(3, 0.032 * u, 0.004 * u, this.material(SPRING));
    const end = z => markerPoint({...on, frame: [...on.frame.slice(0, 9), ...[0, 1, 2].map(i => on.frame[9 + i] + z * on.frame[3 * i + 2])]},
      this.motion, new Vector3());
    coil.mesh.userData.owner = f.name;
    this.group.add(coil.mesh);
    this.updates.push(() => coil.update(end(-0.03 * u), end(0.03 * u)));
  }

  // -------------------------------------------------------------------- beams

  // between two nodes: a cubic through both with their tangents, axes of the section turned from one to the other
  addBeam(b) {
    const per = Math.max(2, Math.min(8, 160 / b.count | 0)), n = b.count * per + 1;
    const color = this.bodyColor(b.first), tube = new Tube(n, b.round ? roundSection(14) : boxSection(), this.material(color));
    tube.mesh.userData.owner = 'beam ' + b.name;
    this.group.add(tube.mesh);
    this.beams.push({...b, tube, per});
    const least = 0.014 * this.unit, size = b.section.map(([y, z]) => [Math.max(y, least), Math.max(z, least)]);
    this.updates.push(() => {
      for (let e = 0; e < b.count; e++) {
        for (let k = e === 0 ? 0 : 1; k <= per; k++) this.beamStation(tube, e * per + k, b.first + e, k / per, size[e]);
      }
      tube.done();
    });
  }

  beamStation(tube, i, body, s, [sy, sz]) {
    const m = this.motion.matrices, A = 16 * body, B = A + 16, p = [], t = [], axes = [[], [], []];
    const L = Math.hypot(m[B + 12] - m[A + 12], m[B + 13] - m[A + 13], m[B + 14] - m[A + 14]);
    const s2 = s * s, s3 = s2 * s;
    for (let c = 0; c < 3; c++) {
      const pa = m[A + 12 + c], pb = m[B + 12 + c], ta = L * m[A + c], tb = L * m[B + c];
      p[c] = (2 * s3 - 3 * s2 + 1) * pa + (s3 - 2 * s2 + s) * ta + (3 * s2 - 2 * s3) * pb + (s3 - s2) * tb;
      t[c] = (6 * s2 - 6 * s) * (pa - pb) + (3 * s2 - 4 * s + 1) * ta + (3 * s2 - 2 * s) * tb;
      axes[1][c] = (1 - s) * m[A + 4 + c] + s * m[B + 4 + c];
    }
    // y square to the tangent, z = x x y
    const length = Math.hypot(...t) || 1, x = t.map(v => v / length);
    const dot = x[0] * axes[1][0] + x[1] * axes[1][1] + x[2] * axes[1][2];
    const y = axes[1].map((v, c) => v - dot * x[c]), ly = Math.hypot(...y) || 1;
    for (let c = 0; c < 3; c++) y[c] /= ly;
    const z = [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]];
    tube.station(i, p, x, y, z, sy, sz);
  }

  // a station: place, then per mode displacement and rotation
  addModalBeam(o) {
    const tube = new Tube(o.stations.length, o.round ? roundSection(14) : boxSection(), this.material(this.bodyColor(o.body)));
    tube.mesh.userData.owner = this.scene.bodies[o.body];
    tube.mesh.userData.isBody = true;
    this.group.add(tube.mesh);
    this.modalBeams.push({...o, tube});
    const [sy, sz] = o.section.map(v => Math.max(v, 0.014 * this.unit));
    const body = new Matrix4(), p = new Vector3(), d = [0, 0, 0, 0, 0, 0], x = new Vector3(), y = new Vector3(), z = new Vector3();
    this.updates.push(() => {
      body.fromArray(this.motion.matrices, 16 * o.body);
      o.stations.forEach((s, i) => {
        d.fill(0);
        for (let j = 0; j < o.n; j++) for (let k = 0; k < 6; k++) d[k] += s[3 + 6 * j + k] * this.motion.eta[o.first + j];
        p.set(s[0] + d[0], s[1] + d[1], s[2] + d[2]).applyMatrix4(body);
        x.set(1, d[5], -d[4]).transformDirection(body);
        y.set(-d[5], 1, d[3]).transformDirection(body);
        z.set(d[4], -d[3], 1).transformDirection(body);
        tube.station(i, p.toArray(), x.toArray(), y.toArray(), z.toArray(), sy, sz);
      });
      tube.done();
    });
  }

  // nodes without elements, and markers: joined by the shortest tree
  addModalNodes(o) {
    const far = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
    for (const m of this.markers()) {
      const at = m.frame.slice(9);
      if (m.body !== o.body || o.nodes.some(v => far(v, at) < 1e-4 * this.unit)) continue;
      const columns = Array.from({length: 6 * o.n}, (_, i) => (i % 6 < 3 ? m.modal?.[3 * Math.floor(i / 6) + i % 6] ?? 0 : 0));
      o.nodes.push([...at, ...columns]);
    }
    const markers = o.nodes.map(v => ({
      body: o.body, first: o.first, frame: [1, 0, 0, 0, 1, 0, 0, 0, 1, v[0], v[1], v[2]],
      modal: Array.from({length: 3 * o.n}, (_, i) => v[3 + 6 * Math.floor(i / 3) + i % 3]),
    }));
    const color = this.bodyColor(o.body), r = 0.014 * this.unit, owner = this.scene.bodies[o.body];
    const reached = [0], rest = o.nodes.map((_, i) => i).slice(1);
    while (rest.length && o.nodes.length < 400) {
      let best = [Infinity];
      for (const i of reached) for (const k of rest) {
        const length = far(o.nodes[i], o.nodes[k]);
        if (length < best[0]) best = [length, i, k];
      }
      const item = this.link('cylinder', {name: owner, isBody: true, a: markers[best[1]], b: markers[best[2]]}, 0.8 * r, color);
      this.bent.push({item, nodes: [markers[best[1]], markers[best[2]]]});
      reached.push(best[2]);
      rest.splice(rest.indexOf(best[2]), 1);
    }
    for (const m of markers) {
      const item = this.parts.shape('sphere', o.body, m.frame, [r, r, r], color, {owner, isBody: true, modal: m.modal, first: m.first});
      this.bent.push({item, nodes: [m]});
    }
  }

  update() {
    this.parts.update(this.motion);
    for (const update of this.updates) update();
  }
}
