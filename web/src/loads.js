// Loads: forces and moments of joints and force elements as arrows of one scale, weights, and stresses
// of beams and deformations of other modal bodies as colours.
import {Color, Matrix4, Vector3} from 'three';
import {between, lambert, markerPoint, Parts} from './parts.js';
import {short} from './plots.js';
import {heat} from './sensitivity.js';

const COLORS = {joint: '#8a4fd1', force: '#e0574f', weight: '#5b6b80'};
const KINDS = {joint: 'joints, on the body', force: 'force elements', weight: 'weights'};
const [LOW, MIDDLE, HIGH] = ['#2457d6', '#e6e8ec', '#c2273d'].map(c => new Color(c));

// compression blue, tension red; x = -1 .. 1
export const stressColor = (x, out = new Color()) => out.copy(MIDDLE).lerp(x < 0 ? LOW : HIGH, Math.min(1, Math.abs(x)));

const nice = x => { const p = 10 ** Math.floor(Math.log10(x)); return [5, 2, 1].map(f => f * p).find(v => v <= x * 1.0001) ?? p; };

// 1.2e7 Pa -> 12 MPa
export function withUnit(x, unit) {
  const k = x ? Math.min(9, Math.max(0, 3 * Math.floor(Math.log10(Math.abs(x)) / 3 + 1e-12))) : 0;
  return `${short(+(x / 10 ** k).toPrecision(3))} ${{0: '', 3: 'k', 6: 'M', 9: 'G'}[k]}${unit}`;
}

// axis k of a marker in the world
function axis(marker, k, motion, out) {
  const f = marker.frame;
  out.set(f[k], f[3 + k], f[6 + k]);
  return marker.body < 0 ? out : out.transformDirection(new Matrix4().fromArray(motion.matrices, 16 * marker.body));
}

export class Loads {
  constructor(view) {
    Object.assign(this, {view, motion: view.motion, scene: view.scene, data: view.data.loads, arrows: [], beams: [], modalBeams: [], bent: []});
    this.show = {forces: true, moments: false, weights: false, stresses: true, deformations: true};
    if (!this.data) return;
    this.addJoints();
    this.addForces();
    this.addRopes();
    this.addWeights();
    this.addBeams();
    this.addBent();
    this.build();
  }

  has(what) {
    if (what === 'stresses') return this.beams.length + this.modalBeams.length > 0;
    if (what === 'deformations') return this.bent.length > 0;
    return this.arrows.some(a => this.shows(a) === what);
  }

  shows(arrow) { return arrow.kind === 'weight' ? 'weights' : arrow.moment ? 'moments' : 'forces'; }

  // ------------------------------------------------------------------ arrows

  // components of a vector (3 channels of which some are null) at the time at hand
  sample(channels, out) {
    const {i, j, f} = this.motion.at, at = c => (c ? c[i] + f * (c[j] - c[i]) : 0);
    return out.set(at(channels[0]), at(channels[1]), at(channels[2]));
  }

  // the largest of each time; sorted, for a scale that a single peak does not decide
  sizes(channels) {
    const out = new Float64Array(this.motion.n);
    for (let i = 0; i < out.length; i++) out[i] = Math.hypot(...channels.map(c => (c ? c[i] : 0)));
    return out.sort();
  }

  // vector(out): its value; at(out): where it acts
  add(kind, name, moment, sizes, at, vector) {
    this.arrows.push({kind, name, moment, usual: sizes[Math.floor(0.98 * (sizes.length - 1))], at, vector, from: new Vector3(), to: new Vector3(), value: new Vector3()});
  }

  // a wrench on B at B; where B is the ground, that on A
  addWrench(kind, name, {a, b}, channels, point) {
    const on = b.body >= 0 ? b : a, sign = b.body >= 0 ? 1 : -1;
    for (const moment of [false, true]) {
      const part = channels.slice(moment ? 3 : 0, moment ? 6 : 3);
      if (part.some(Boolean)) this.add(kind, name, moment, this.sizes(part), point ?? (out => markerPoint(on, this.motion, out)), out => this.sample(part, out).multiplyScalar(sign));
    }
  }

  addJoints() {
    this.data.joints.forEach(({channels}, k) => this.addWrench('joint', 'joint ' + this.scene.joints[k].name, this.scene.joints[k], channels));
  }

  addForces() {
    this.data.forces.forEach(({channels}, k) => {
      const f = this.scene.forces[k];
      if (!channels.some(Boolean) || f.type === 'elastic-tendon') return;
      if (f.along) this.addLaw(f, channels[0]);
      // of a contact or tyre the force acts where it touches, without a moment there
      else if (f.contact) this.addWrench('force', f.name, f, channels.slice(0, 3), this.view.mechanism.surfaces.point(f));
      else this.addWrench('force', f.name, f, channels);
    });
  }

  // the tension of a law along a coordinate pulls B towards A
  addLaw(f, tension) {
    const {motion} = this, sizes = this.sizes([tension]), one = [tension, null, null], a = new Vector3(), b = new Vector3();
    const value = () => this.sample(one, a).x * f.sign, turning = {angle: 2, angle_x: 0, angle_y: 1, polar: 2}[f.along];
    const at = on => out => markerPoint(on, motion, out);
    const put = (on, sign, moment, direction) => on.body >= 0 && this.add('force', f.name, moment, sizes, at(on), out => {
      const size = sign * value();
      return direction(out).multiplyScalar(size);
    });
    if (f.along === 'distance') {
      const direction = out => out.copy(markerPoint(f.b, motion, b)).sub(markerPoint(f.a, motion, a)).normalize();
      put(f.b, -1, false, direction);
      put(f.a, 1, false, direction);
    } else {
      const [on, sign] = f.b.body >= 0 ? [f.b, -1] : [f.a, 1], base = f.along === 'angle_y' ? f.b : f.a;
      put(on, sign, turning != null, out => axis(base, turning ?? 'xyz'.indexOf(f.along), motion, out));
    }
  }

  // a rope pulls each of its places along the straight parts on both sides
  addRopes() {
    for (const rope of this.view.mechanism.ropes) {
      const [tension] = this.data.forces[rope.rope.force]?.channels ?? [], f = this.scene.forces[rope.rope.force];
      if (!tension) continue;
      const sizes = this.sizes([tension]), one = [tension, null, null], value = new Vector3();
      rope.places.forEach(({a}, k) => a.body >= 0 && this.add('force', f.name, false, sizes, out => markerPoint(a, this.motion, out), out => {
        const size = this.sample(one, value).x * f.sign;
        return rope.pull(k, out).multiplyScalar(size);
      }));
    }
  }

  addWeights() {
    for (const [body, x, y, z, ...force] of this.data.weights) {
      const marker = {body, frame: [1, 0, 0, 0, 1, 0, 0, 0, 1, x, y, z]}, size = Math.hypot(...force);
      if (size > 0) this.add('weight', this.scene.bodies[body], false, [size], out => markerPoint(marker, this.motion, out), out => out.set(...force));
    }
  }

  build() {
    const r = 0.009 * this.view.radius, parts = this.parts = new Parts();
    for (const a of this.arrows) {
      const more = {owner: a.name, tip: () => `${a.name}: ${withUnit(a.value.length(), a.moment ? 'N m' : 'N')}`};
      const on = () => (a.length > r ? 1 : 0), head = end => 1 - Math.min(0.45, 5 * r / (a.length || 1)) * end;
      parts.add('cylinder', -1, null, COLORS[a.kind], {...more, dynamic: () => between(a.from, a.to, on() * (a.moment ? 0.7 : 1) * r, [0, head(1)])});
      parts.add('cone', -1, null, COLORS[a.kind], {...more, dynamic: () => between(a.from, a.to, on() * 2.6 * r, [head(1), 1])});
      // a moment has two heads
      if (a.moment) parts.add('cone', -1, null, COLORS[a.kind], {...more, dynamic: () => between(a.from, a.to, on() * 2.6 * r, [head(2), head(1)])});
    }
    parts.build(lambert('#ffffff', {depthTest: false, transparent: true, opacity: 0.92}), null, true);
    for (const mesh of parts.meshes) mesh.renderOrder = 3;
    this.view.world.add(parts.group);
  }

  // one length for all forces, one for all moments: a cell of the grid is a round number
  get scales() {
    return this.fixed ??= [false, true].map(moment => {
      const most = Math.max(0, ...this.arrows.filter(a => a.moment === moment && a.kind !== 'weight').map(a => a.usual));
      const usual = most || Math.max(0, ...this.arrows.filter(a => a.moment === moment).map(a => a.usual)), {cell} = this.view;
      return usual > 0 ? nice(usual * cell / (0.3 * this.view.radius)) / cell : 1;
    });
  }

  update() {
    if (!this.data) return;
    for (const a of this.arrows) {
      a.vector(a.value);
      a.at(a.from);
      a.length = this.show[this.shows(a)] ? a.value.length() / this.scales[a.moment ? 1 : 0] : 0;
      a.to.copy(a.from).addScaledVector(a.value, a.length / (a.value.length() || 1));
    }
    if (this.arrows.length) this.parts.update(this.motion);
    if (this.show.stresses) {
      this.beams.forEach(b => this.paint(b));
      this.modalBeams.forEach(b => this.paintModal(b));
    }
    if (this.show.deformations && this.bent.length) this.paintBent();
  }

  // ------------------------------------------------------------------ stresses

  // sigma = E (eps_1 + z eps_5 - y eps_6) at the surface; an element has one value along its length, which stands in its
  // middle, and colours go over from one middle to the next
  addBeams() {
    const most = new Float64Array(this.motion.n); // of each picture
    let first = 0;
    for (const beam of this.view.mechanism.beams) {
      const elements = this.data.elements.slice(first, first + beam.count);
      first += beam.count;
      elements.forEach(({channels: [axial, by2, by3]}, e) => {
        const [y, z] = beam.section[e].map(v => v / 2), at = (c, i) => (c ? Math.abs(c[i]) : 0);
        for (let i = 0; i < this.motion.n; i++) {
          const bent = beam.round ? Math.hypot(y * at(by2, i), y * at(by3, i)) : z * at(by2, i) + y * at(by3, i);
          most[i] = Math.max(most[i], beam.E[e] * (at(axial, i) + bent));
        }
      });
      if (elements.length) this.beams.push({...beam, elements, strain: elements.map(() => new Vector3())});
    }
    this.modalBeams = this.view.mechanism.modalBeams.map(b => this.modalStrains(b));
    for (const b of this.modalBeams) for (let i = 0; i < this.motion.n; i++) most[i] = Math.max(most[i], this.modalMost(b, i));
    // a short peak does not take the colours away from the rest of the motion
    const usual = most.sort()[Math.floor(0.98 * (most.length - 1))], peak = most[most.length - 1] ?? 0;
    this.peak = peak > 1.5 * usual && usual > 0 ? peak : 0;
    this.most = this.peak ? usual : peak;
    if (!(this.most > 0)) this.beams = this.modalBeams = [];
    if (this.has('stresses')) this.setStresses(true);
  }

  // at a point of the section (in parts of its edges) of a beam, x elements from its start
  stressAt(beam, x, a, b) {
    const k = Math.min(beam.count - 1, Math.max(0, x - 0.5)), e = Math.min(beam.count - 2, Math.floor(k));
    const of = e => {
      const s = beam.strain[e], [y, z] = beam.section[e];
      return beam.E[e] * (s.x + b * z * s.y - a * y * s.z);
    };
    return beam.count < 2 ? of(0) : of(e) + (k - e) * (of(e + 1) - of(e));
  }

  paint(beam) {
    const color = new Color();
    beam.elements.forEach(({channels}, e) => this.sample(channels, beam.strain[e]));
    beam.tube.paint((i, a, b) => stressColor(this.stressAt(beam, i / beam.per, a, b) / this.most, color));
  }

  // Of a modal beam, strains follow from the shapes: eps_1 = u_x', eps_5 = th_y', eps_6 = th_z'. Rotations are quadratic
  // in an element, so that differences of neighbours are exact in the middle; stations lie between two middles.
  modalStrains(b) {
    const s = b.stations, column = (i, j, k) => s[i][3 + 6 * j + k], last = s.length - 2;
    const middle = i => Array.from({length: 3 * b.n}, (_, c) => {
      const j = Math.floor(c / 3), k = [0, 4, 5][c % 3];
      return (column(i + 1, j, k) - column(i, j, k)) / (s[i + 1][0] - s[i][0]);
    });
    const middles = Array.from({length: last + 1}, (_, i) => middle(i));
    const strains = s.map((_, i) => {
      const [a, c] = i === 0 ? [0, Math.min(1, last)] : i > last ? [last, Math.max(0, last - 1)] : [i - 1, i];
      return middles[a].map((v, k) => (i === 0 || i > last ? 1.5 * v - 0.5 * middles[c][k] : 0.5 * (v + middles[c][k])));
    });
    const E = s.map((_, i) => b.E[Math.min(b.E.length - 1, Math.floor(i * b.E.length / (s.length - 1)))]);
    return {...b, strains, modulus: E, strain: s.map(() => [0, 0, 0])};
  }

  // eta(j): modal coordinates of the body
  setModal(b, eta) {
    b.strains.forEach((columns, i) => {
      b.strain[i].fill(0);
      for (let j = 0; j < b.n; j++) for (let k = 0; k < 3; k++) b.strain[i][k] += columns[3 * j + k] * eta(j);
    });
  }

  modalMost(b, frame) {
    const [y, z] = b.section.map(v => v / 2), {modal, nm} = this.motion;
    this.setModal(b, j => modal[frame * nm + b.first + j]);
    return Math.max(...b.strain.map(([axial, by2, by3], i) => b.modulus[i] * (Math.abs(axial) + (b.round ? y * Math.hypot(by2, by3) : z * Math.abs(by2) + y * Math.abs(by3)))));
  }

  modalStress(b, i, a, c) {
    const [axial, by2, by3] = b.strain[i], [y, z] = b.section;
    return b.modulus[i] * (axial + c * z * by2 - a * y * by3);
  }

  paintModal(b) {
    const color = new Color();
    this.setModal(b, j => this.motion.eta[b.first + j]);
    b.tube.paint((i, a, c) => stressColor(this.modalStress(b, i, a, c) / this.most, color));
  }

  // ------------------------------------------------------------------ deformations

  // A modal body of nodes has no sections and no stresses: colours are displacements |sum of shapes x coordinates|.
  displacement(node, eta) {
    const d = [0, 0, 0];
    node.modal.forEach((v, k) => { d[k % 3] += v * eta(node.first + Math.floor(k / 3)); });
    return Math.hypot(...d);
  }

  addBent() {
    const {bent} = this.view.mechanism, {modal, nm, n} = this.motion, nodes = new Set(bent.flatMap(b => b.nodes));
    this.bentMost = 0;
    for (let i = 0; i < n; i++) for (const node of nodes) this.bentMost = Math.max(this.bentMost, this.displacement(node, j => modal[i * nm + j]));
    if (this.bentMost > 0) this.bent = bent;
  }

  paintBent() {
    const {mechanism, sensitivity} = this.view;
    if (sensitivity.show.colours || sensitivity.marked) return;
    for (const {item, nodes} of this.bent) item.shown = heat(Math.min(1, nodes.reduce((sum, node) => sum + this.displacement(node, j => this.motion.eta[j]), 0) / nodes.length / this.bentMost));
    mechanism.parts.recolor();
  }

  setDeformations(on) {
    if (on) return;
    for (const {item} of this.bent) item.shown = null;
    this.view.mechanism.parts.recolor();
  }

  setStresses(on) {
    for (const {tube} of [...this.beams, ...this.modalBeams]) {
      const {material, userData} = tube.mesh;
      userData.own ??= material.color.clone();
      userData.stressed = on;
      material.vertexColors = on;
      material.color.copy(on ? new Color('#ffffff') : userData.own);
      material.needsUpdate = true;
    }
  }

  // ------------------------------------------------------------------ buttons and legend

  buttons() {
    const text = {forces: 'forces of joints and force elements (f)', moments: 'moments of joints and force elements (m)', weights: 'weights of bodies (w)', stresses: 'normal stresses of beams (s)', deformations: 'displacements by the modes (e)'};
    return Object.keys(this.show).filter(k => this.has(k)).map(k => [k, text[k], this.show[k]]);
  }

  toggle(what, on = !this.show[what]) {
    if (!this.has(what)) return;
    this.show[what] = on;
    if (what === 'stresses') this.setStresses(on);
    if (what === 'deformations') this.setDeformations(on);
    document.getElementById('show-' + what)?.classList.toggle('on', on);
    this.view.legend();
    this.view.dirty = true;
  }

  // rows [colour or null, text or nodes]
  legend(make, dot) {
    const rows = [], {cell} = this.view, on = this.arrows.filter(a => this.show[this.shows(a)]);
    for (const moment of [false, true]) {
      if (!on.some(a => a.moment === moment)) continue;
      const size = withUnit(this.scales[moment ? 1 : 0] * cell, moment ? 'N m' : 'N');
      rows.push(make('div', {className: moment ? 'moments' : 'forces'}, `${moment ? 'moments, two heads' : 'forces'}: a cell of the grid (${short(cell)} m) is ${size}`));
    }
    for (const kind of Object.keys(KINDS)) if (on.some(a => a.kind === kind)) rows.push(make('div', {}, dot(COLORS[kind]), KINDS[kind]));
    const open = this.show.forces || this.show.moments ? this.data?.joints.filter(j => j.open).length : 0;
    if (open) rows.push(make('div', {title: 'Constraint rows are redundant: some components of their reactions are not unique, and left out.'}, `${open} joints without components that redundant rows leave open`));
    if (this.show.stresses && this.has('stresses')) {
      const bar = make('u');
      bar.style.background = `linear-gradient(to right, ${[-1, -0.5, 0, 0.5, 1].map(x => stressColor(x).getStyle()).join()})`;
      rows.push(make('div', {className: 'stresses'}, withUnit(-this.most, 'Pa'), bar, `${withUnit(this.most, 'Pa')}: normal stress${this.peak ? `, for moments up to ${withUnit(this.peak, 'Pa')}` : ''}`));
    }
    if (this.show.deformations && this.bent.length) {
      const bar = make('u');
      bar.style.background = `linear-gradient(to right, ${[0, 0.25, 0.5, 0.75, 1].map(x => heat(x).getStyle()).join()})`;
      rows.push(make('div', {className: 'deformations'}, '0', bar, `${short(+this.bentMost.toPrecision(3))} m: deformation (the modes have no stresses)`));
    }
    return rows;
  }
}
