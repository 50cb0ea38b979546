// What the numbers of the model do: ghosts of the motion at p + delta and p - delta to first order, arrows of the
// displacements, elements coloured by |number x derivative|, and bars that rank parameters and numbers.
import {Color, Mesh, Vector3} from 'three';
import {Mechanism} from './mechanism.js';
import {Motion} from './data.js';
import {between, lambert, markerPoint, Parts, unitSphere} from './parts.js';
import {short} from './plots.js';

export const GHOSTS = ['#2f6fed', '#d9634c']; // p + delta, p - delta
const ARROW = '#1d9a6c', MARK = '#ff9500', FAINT = new Color('#9aa3b0');

// nothing to all in steps that most readers can tell apart, on light and dark
const ramp = [[0, '#b9c2cf'], [0.35, '#f3d36b'], [0.7, '#f08c2e'], [1, '#c2273d']].map(([at, c]) => [at, new Color(c)]);
export function heat(x) {
  const k = Math.max(1, ramp.findIndex(([at]) => at >= x)), [a, from] = ramp[k - 1], [b, to] = ramp[k];
  return from.clone().lerp(to, (x - a) / (b - a));
}

// The motion at another value of a parameter, to first order: frames H exp(delta w), modal coordinates.
export class GhostMotion extends Motion {
  constructor(base, ghost) {
    super(base.data);
    Object.assign(this, {base, ghost, delta: 0});
  }

  // derivative of the pose of body b at the time of the base: displacement and rotation, in the axes of the body
  tangent(b, out) {
    const {i, j, f} = this.base.at, w = this.ghost.poses, A = 6 * (i * this.nb + b), B = 6 * (j * this.nb + b);
    for (let k = 0; k < 6; k++) out[k] = (1 - f) * w[A + k] + f * w[B + k];
    return out;
  }

  follow() {
    const {base, delta, nb, nm} = this, {i, j, f} = base.at, w = this.w ??= new Float64Array(6), m = this.matrices, o = base.matrices;
    for (let b = 0; b < nb; b++) {
      this.tangent(b, w);
      const at = 16 * b, a = Math.hypot(w[3], w[4], w[5]) * delta, s = a ? Math.sin(a) / a : 1, c = a ? (1 - Math.cos(a)) / (a * a) : 0.5;
      const [x, y, z] = [delta * w[3], delta * w[4], delta * w[5]];
      const E = [1 - c * (y * y + z * z), c * x * y + s * z, c * x * z - s * y, c * x * y - s * z, 1 - c * (x * x + z * z), c * y * z + s * x,
        c * x * z + s * y, c * y * z - s * x, 1 - c * (x * x + y * y)]; // columns
      for (let col = 0; col < 3; col++) for (let r = 0; r < 3; r++) {
        m[at + 4 * col + r] = o[at + r] * E[3 * col] + o[at + 4 + r] * E[3 * col + 1] + o[at + 8 + r] * E[3 * col + 2];
      }
      for (let r = 0; r < 3; r++) m[at + 12 + r] = o[at + 12 + r] + delta * (o[at + r] * w[0] + o[at + 4 + r] * w[1] + o[at + 8 + r] * w[2]);
      m[at + 3] = m[at + 7] = m[at + 11] = 0;
      m[at + 15] = 1;
    }
    const q = this.ghost.modal;
    for (let k = 0; k < nm; k++) this.eta[k] = base.eta[k] + delta * ((1 - f) * q[i * nm + k] + f * q[j * nm + k]);
  }
}

const nice = x => { const p = 10 ** Math.floor(Math.log10(x)); return [5, 2, 1].map(f => f * p).find(v => v <= x * 1.0001) ?? p; };

export class Sensitivity {
  constructor(view, make) {
    Object.assign(this, {view, make, scene: view.scene, ghosts: view.data.ghosts, criterion: 0, chosen: -1, pair: [], show: {ghosts: true, arrows: true, colours: false}});
  }

  get any() { return this.ghosts.length > 0 || this.criteria.length > 0; }
  get criteria() { return this.scene.criteria.filter(c => c.gradient); }

  // ------------------------------------------------------------------ ghosts

  // the parameter of a ghost, -1: none
  choose(k) {
    for (const g of this.pair) this.view.world.remove(g.group);
    if (this.arrows) this.view.world.remove(this.arrows.group);
    this.pair = [];
    this.arrows = null;
    this.chosen = k;
    if (k >= 0) {
      const g = this.ghosts[k], {motion, scene} = this.view;
      this.pair = GHOSTS.map(color => new Mechanism(scene, new GhostMotion(motion, g), {ghost: true, color, opacity: 0.33}));
      this.pair.forEach(m => this.view.world.add(m.group));
      this.makeArrows();
      // the largest step: a third of the mechanism, or the value itself
      const p = scene.parameters[g.parameter], reach = g.reach ??= this.reachOf(g);
      this.most = Math.min(reach > 0 ? 0.35 * scene.size / reach : Infinity, Math.abs(p.value) || (p.unit === 'm' ? 0.2 * scene.size : p.unit === 'rad' ? 0.5 : Infinity));
      if (!Number.isFinite(this.most)) this.most = 1;
      this.delta = nice(this.most / 3);
    }
    this.fill();
    this.apply();
  }

  // most displacement of a body by one unit of the parameter; rotations count at half of the size
  reachOf(g) {
    let most = 0;
    for (let i = 0; i < g.poses.length; i += 6) {
      const w = g.poses;
      most = Math.max(most, Math.hypot(w[i], w[i + 1], w[i + 2]), 0.5 * this.scene.size * Math.hypot(w[i + 3], w[i + 4], w[i + 5]));
    }
    return most;
  }

  setDelta(delta) { this.delta = delta; this.say(); this.apply(); }

  apply() {
    const on = this.chosen >= 0;
    this.pair.forEach((m, k) => { m.motion.delta = k ? -this.delta : this.delta; m.group.visible = on && this.show.ghosts; });
    if (this.arrows) this.arrows.group.visible = on && this.show.arrows;
    this.view.legend();
    this.view.dirty = true;
  }

  makeArrows() {
    const {motion, scene} = this.view, eye = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0], parts = new Parts(), ghost = this.pair[0].motion;
    let points = scene.markers.filter(m => m.a.body >= 0).map(m => m.a).concat(scene.bodies.map((_, body) => ({body, frame: eye})));
    if (points.length > 60) points = points.filter((_, i) => i % Math.ceil(points.length / 60) === 0);
    const a = new Vector3(), b = new Vector3(), r = 0.006 * scene.size, more = {owner: 'displacement'};
    for (const m of points) {
      const ends = () => {
        markerPoint(m, motion, a);
        markerPoint(m, ghost, b);
        return a.distanceTo(b);
      };
      const head = L => 1 - Math.min(0.45, 5 * r / (L || 1));
      parts.add('cylinder', -1, null, ARROW, {...more, dynamic: () => { const L = ends(); return between(a, b, L > r ? r : 0, [0, head(L)]); }});
      parts.add('cone', -1, null, ARROW, {...more, dynamic: () => { const L = ends(); return between(a, b, L > r ? 2.4 * r : 0, [head(L), 1]); }});
    }
    parts.build(lambert('#ffffff', {depthTest: false, transparent: true, opacity: 0.95}), null, true);
    for (const mesh of parts.meshes) mesh.renderOrder = 3;
    this.arrows = parts;
    this.view.world.add(parts.group);
  }

  update() {
    if (this.chosen < 0) return;
    for (const m of this.pair) {
      m.motion.follow();
      if (m.group.visible) m.update();
    }
    if (this.arrows.group.visible) this.arrows.update(this.view.motion);
    if (this.halo?.visible) this.placeHalo();
  }

  // ------------------------------------------------------------------ colours and marks

  // elements by name: the largest effect of each; markers count for the body that they lie on
  effects() {
    const list = this.scene.effects?.[this.criterion]?.elements ?? [], out = new Map();
    for (let i = 0; i < list.length; i += 2) {
      let [, kind, name] = /^([a-z ]+) '(.*)'$/.exec(list[i]) ?? [null, list[i], ''];
      if (kind === 'marker') {
        const m = this.scene.markers.find(m => m.name === name);
        if (!m || m.a.body < 0) continue;
        [kind, name] = ['body', this.scene.bodies[m.a.body]];
      }
      const key = this.key(kind, name);
      out.set(key, Math.max(out.get(key) ?? 0, list[i + 1]));
    }
    return out;
  }

  key(kind, name) { return kind === 'body' ? 'body ' + name : kind === 'joint' || kind === 'beam' ? kind + ' ' + name : name; }
  keyOf(item) { return item.isBody ? 'body ' + item.owner : item.owner; }

  // colour of each element: of a mark, of its effect, or its own
  paint() {
    const {mechanism} = this.view, effects = this.show.colours ? this.effects() : null, most = effects ? Math.max(...effects.values(), 0) : 0;
    const shade = (key, own) => {
      if (this.marked) return key === this.marked ? new Color(MARK) : own.clone().lerp(FAINT, 0.75);
      return effects ? (most > 0 && effects.has(key) ? heat(Math.sqrt(effects.get(key) / most)) : FAINT) : null;
    };
    for (const mesh of mechanism.parts.meshes) for (const item of mesh.items) item.shown = shade(this.keyOf(item), item.color);
    mechanism.parts.recolor();
    mechanism.group.traverse(o => {
      const {owner} = o.userData;
      if (!owner || o.userData.stressed) return;
      o.userData.own ??= o.material.color.clone();
      o.material.color.copy(shade(o.userData.isBody ? 'body ' + owner : owner, o.userData.own) ?? o.userData.own);
    });
    this.heatMost = most;
    this.view.legend();
    this.view.dirty = true;
  }

  // marks an element ("body 'rod1'", "marker 'pin'", ...); once more: no mark
  mark(owner) {
    const [, kind, name] = /^([a-z ]+) '(.*)'$/.exec(owner) ?? [null, owner, ''];
    this.markedOwner = this.markedOwner === owner ? null : owner;
    const marker = kind === 'marker' && this.scene.markers.find(m => m.name === name);
    this.marked = !this.markedOwner ? null : marker && marker.a.body >= 0 ? this.key('body', this.scene.bodies[marker.a.body]) : this.key(kind, name);
    this.haloAt = this.markedOwner && marker ? marker.a : null;
    this.placeHalo();
    this.paint();
    this.fill();
  }

  placeHalo() {
    if (!this.halo && !this.haloAt) return;
    if (!this.halo) {
      this.halo = new Mesh(unitSphere(), lambert(MARK, {transparent: true, opacity: 0.75, depthTest: false}));
      this.halo.renderOrder = 4;
      this.halo.scale.setScalar(0.028 * this.scene.size);
      this.view.world.add(this.halo);
    }
    this.halo.visible = Boolean(this.haloAt);
    if (this.haloAt) markerPoint(this.haloAt, this.view.motion, this.halo.position);
  }

  // ------------------------------------------------------------------ panel

  toggle(what, on = !this.show[what]) {
    this.show[what] = on;
    this.buttons?.[what]?.classList.toggle('on', on);
    if (what === 'colours') this.paint();
    this.apply();
  }

  panel() {
    if (!this.any) return [];
    const {make, scene} = this, out = [];
    const flip = (id, text, title) => [id, make('button', {id: 'show-' + id, textContent: text, title, className: this.show[id] ? 'on' : '', onclick: () => this.toggle(id)})];
    const select = (id, options, change) => {
      const e = make('select', {id, onchange: () => change(+e.value)});
      e.append(...options.map(([value, textContent]) => make('option', {value, textContent})));
      return e;
    };
    this.buttons = Object.fromEntries([
      ...(this.ghosts.length ? [flip('ghosts', 'ghosts', 'the motion at both values, to first order (o)'), flip('arrows', 'arrows', 'displacements by the change of the parameter (v)')] : []),
      ...(scene.effects?.length ? [flip('colours', 'colours', 'elements coloured by |number × derivative| (c)')] : []),
    ]);
    if (this.ghosts.length) {
      this.slider = make('input', {id: 'delta', type: 'range', min: 0, max: 1000, step: 1, title: 'change of the parameter', oninput: e => this.setDelta(this.most * e.target.value / 1000)});
      this.text = make('p', {id: 'delta-text'});
      this.parameter = select('ghost', [[-1, 'no parameter'], ...this.ghosts.map((g, k) => [k, scene.parameters[g.parameter].name])], k => this.choose(k));
      out.push(make('h2', {textContent: 'motion by a parameter'}), make('div', {className: 'row'}, this.parameter), this.slider, this.text);
    }
    if (Object.keys(this.buttons).length) out.push(make('div', {className: 'row'}, ...Object.values(this.buttons)));
    if (this.criteria.length) {
      const pick = select('criterion', this.criteria.map((c, k) => [k, c.name]), k => { this.criterion = k; this.fill(); this.paint(); });
      this.bars = make('div', {className: 'bars', id: 'bars'});
      out.push(make('h2', {textContent: 'value × derivative by each parameter'}), make('div', {className: 'row'}, pick), this.bars);
      this.ranking = make('div', {className: 'bars', id: 'ranking'});
      if (scene.effects?.length) out.push(make('h2', {textContent: 'numbers of the model, by effect'}), this.ranking);
    }
    this.fill();
    return out;
  }

  say() {
    if (!this.text) return;
    const g = this.ghosts[this.chosen], p = g && this.scene.parameters[g.parameter], unit = p?.unit ? ' ' + p.unit : '';
    this.slider.disabled = !g;
    this.text.textContent = g ? `${p.name} = ${short(p.value)} ± ${short(this.delta)}${unit}${p.value ? ` (${short(+(100 * this.delta / Math.abs(p.value)).toPrecision(3))} %)` : ''}` : '';
    if (g) this.slider.value = String(1000 * this.delta / this.most);
  }

  bar(name, v, most, title, click, on) {
    const {make} = this, part = 50 * Math.abs(v) / most, bar = make('b');
    bar.style.cssText = `width:${part}%;left:${v < 0 ? 50 - part : 50}%;background:${v < 0 ? '#d9634c' : '#4c8bf5'}`;
    return make('div', {title, className: (click ? 'click ' : '') + (on ? 'on' : ''), onclick: click}, make('span', {textContent: name}), make('i', {}, bar), make('span', {textContent: short(v)}));
  }

  fill() {
    this.say();
    if (this.parameter) this.parameter.value = String(this.chosen);
    const c = this.criteria[this.criterion];
    if (!c || !this.bars) return;
    const ghostOf = new Map(this.ghosts.map((g, k) => [g.parameter, k]));
    const rows = this.scene.parameters.map((p, k) => ({p, k, v: c.gradient[k] * (p.value || 1)})).filter(r => r.v)
      .sort((a, b) => Math.abs(b.v) - Math.abs(a.v)).slice(0, 30), most = Math.abs(rows[0]?.v ?? 1);
    this.bars.replaceChildren(...rows.map(({p, k, v}) => {
      const g = ghostOf.get(k);
      return this.bar(p.name, v, most, 'value × derivative: the change of the criterion for the parameter doubled, to first order',
        g != null && (() => this.choose(g === this.chosen ? -1 : g)), g != null && g === this.chosen);
    }));
    const list = this.scene.effects?.[this.criterion]?.numbers ?? [], top = Math.abs(list[0]?.[4] ?? 1);
    this.ranking.replaceChildren(...list.map(([owner, key, unit, value, v]) =>
      this.bar(`${owner} ${key}`, v, top, `${owner} ${key} = ${short(value)} ${unit}`, () => this.mark(owner), owner === this.markedOwner)));
  }
}
