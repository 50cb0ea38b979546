// mbgrad view: the page. Shows a mechanism in motion, its signals, parameters and criteria.
import {
  AmbientLight, BufferAttribute, BufferGeometry, Color, DirectionalLight, Group, HemisphereLight, Line, LineBasicMaterial,
  LineSegments, Mesh, PCFShadowMap, PerspectiveCamera, PlaneGeometry, Raycaster, Scene, ShadowMaterial, Vector2, Vector3, WebGLRenderer,
} from 'three';
import {OrbitControls} from 'three/addons/controls/OrbitControls.js';
import {Motion, readData} from './data.js';
import {corners, fit} from './fit.js';
import {Loads} from './loads.js';
import {Mechanism, palette} from './mechanism.js';
import {markerPoint} from './parts.js';
import {Others} from './others.js';
import {outlineCorners} from './outlines.js';
import {Plots, short} from './plots.js';
import {touched} from './surfaces.js';
import {GHOSTS, heat, Sensitivity} from './sensitivity.js';

const $ = id => document.getElementById(id);
const make = (tag, more = {}, ...children) => {
  const e = Object.assign(document.createElement(tag), more);
  e.append(...children);
  return e;
};

const icon = path => { const e = make('span'); e.innerHTML = `<svg viewBox="0 0 16 16" width="15" height="15" fill="currentColor"><path d="${path}"/></svg>`; return e; };
const icons = {play: 'M3 1.5v13l11-6.5z', pause: 'M3 2h4v12H3zM9 2h4v12H9z', back: 'M2 2h2.5v12H2zM14 2v12L5.5 8z', next: 'M11.5 2H14v12h-2.5zM2 2v12l8.5-6z'};

class View {
  constructor(data) {
    this.data = data;
    this.scene = data.scene;
    this.motion = new Motion(data);
    this.t = this.motion.t0;
    this.speed = 1;
    this.playing = false;
    this.loop = true;
    this.dirty = true;
    this.show = {grid: true, traces: false, labels: false, frames: false};
    this.makeWorld();
    this.others = new Others(this);
    this.sensitivity = new Sensitivity(this, make);
    this.makeBounds();
    this.makeGrid();
    this.loads = new Loads(this);
    this.makeTraces();
    this.makeFrames();
    this.makeLabels();
    this.makeTools();
    this.makeBar();
    this.makePlots();
    this.makePanel();
    this.legend();
    this.makeKeys();
    this.makePick();
    this.theme(matchMedia('(prefers-color-scheme: dark)').matches);
    this.preset('home');
    if (this.travels) this.follow(this.leader);
    new ResizeObserver(() => this.resize()).observe($('view'));
    this.resize();
    requestAnimationFrame(now => this.tick(now));
  }

  // ------------------------------------------------------------------ world

  makeWorld() {
    const canvas = $('canvas');
    this.renderer = new WebGLRenderer({canvas, antialias: this.motion.nb <= 300, preserveDrawingBuffer: true});
    this.renderer.shadowMap.type = PCFShadowMap;
    this.world = new Scene();
    this.camera = new PerspectiveCamera(28, 1, 0.01, 1000);
    this.up = new Vector3(...this.scene.up).normalize();
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener('change', () => { this.dirty = true; });
    this.mechanism = new Mechanism(this.scene, this.motion);
    this.world.add(this.mechanism.group);
    this.sky = new HemisphereLight('#ffffff', '#8a93a3', 1.7);
    this.sky.position.copy(this.up);
    this.sun = new DirectionalLight('#ffffff', 2.1);
    this.world.add(this.sky, this.sun, this.sun.target, new AmbientLight('#ffffff', 0.35));
  }

  // the room that the motion takes, in world axes; of a mechanism that travels, less its way
  makeBounds() {
    const {motion, scene} = this, p = new Vector3(), low = new Vector3(Infinity, Infinity, Infinity), high = low.clone().negate();
    const points = [...scene.joints, ...scene.forces].flatMap(j => [j.a, j.b]).concat(scene.markers.map(m => m.a));
    scene.bodies.forEach((_, body) => points.push({body, frame: [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]}));
    const core = points.length;
    for (const s of scene.shapes) points.push(...corners(s, scene.meshes));
    for (const c of scene.curves) points.push(...outlineCorners(c, scene.joints[c.joint][c.end]));
    const step = Math.max(1, Math.ceil(motion.n * points.length / 60000)), start = [], end = [], thin = [low.clone(), high.clone()];
    this.cloud = [];
    const way = new Vector3(), origin = new Vector3(); // of a leader, which the camera follows
    const stretch = i => {
      motion.set(motion.time[i]);
      if (this.travels) way.fromArray(motion.matrices, 16 * this.leader + 12).sub(origin);
      points.forEach((m, k) => {
        if (this.travels && m.body < 0) return;
        markerPoint(m, motion, p).sub(way);
        if (k < core) thin[0].min(p), thin[1].max(p);
        low.min(p);
        high.max(p);
        this.cloud.push(p.x, p.y, p.z);
      });
    };
    stretch(0);
    const first = Math.max(high.clone().sub(low).length(), scene.size);
    [start, end].forEach((list, k) => {
      motion.set(k ? motion.t1 : motion.t0);
      for (let b = 0; b < motion.nb; b++) list.push(new Vector3().fromArray(motion.matrices, 16 * b + 12));
    });
    const moved = start.map((v, b) => end[b].distanceTo(v)), least = Math.min(...moved);
    // one body that never turns would stand still
    const turns = motion.nb > 1 || [0.25, 0.5, 1].some(part => [3, 4, 5, 6].some(k => Math.abs(motion.poses[7 * Math.round(part * (motion.n - 1)) + k] - motion.poses[k]) > 1e-6));
    this.travels = motion.nb > 0 && least > 1.5 * first && turns;
    this.leader = 0;
    if (this.travels) {
      origin.copy(start[this.leader]);
      thin[0].setScalar(Infinity);
      thin[1].setScalar(-Infinity);
    }
    for (let i = 0; i < motion.n; i += step) stretch(i);
    for (const o of this.travels ? [] : this.others.list) this.stretchOver(o.motion, low, high);
    if (!Number.isFinite(low.x)) { low.set(-1, -1, -1); high.set(1, 1, 1); }
    this.low = low;
    this.high = high;
    this.look(...thin);
    const pad = 0.03 * scene.size + Math.max(0, ...scene.beams.flatMap(b => b.section.map(v => Math.max(...v) / 2)));
    low.subScalar(pad);
    high.addScalar(pad);
    this.pad = pad;
    this.center = low.clone().add(high).multiplyScalar(0.5);
    this.radius = Math.max(high.distanceTo(low) / 2, 0.2 * scene.size);
    // from above, the left and the front, as home looks
    const sun = this.up.clone().multiplyScalar(1.6).addScaledVector(this.flat ? new Vector3().crossVectors(this.normal, this.up) : this.across(), -0.5)
      .addScaledVector(this.flat ? this.normal : this.side(), this.flat ? 1.5 : -0.9);
    this.sunAt = sun.multiplyScalar(2 * this.radius);
    this.sun.castShadow = this.renderer.shadowMap.enabled = !this.flat && this.mechanism.parts.meshes.some(m => m.castShadow);
    const s = this.sun.shadow, r = 1.3 * this.radius;
    Object.assign(s.camera, {left: -r, right: r, top: r, bottom: -r, near: 0.1 * this.radius, far: 8 * this.radius});
    s.mapSize.set(1024, 1024);
    s.bias = -0.002;
    s.normalBias = 0.004 * this.radius;
  }

  // another run needs room, too
  stretchOver(motion, low, high) {
    const p = new Vector3(), points = [...motion.scene.joints, ...motion.scene.forces].flatMap(j => [j.a, j.b]).filter(m => m.body >= 0);
    for (let i = 0; i < motion.n; i += Math.max(1, Math.ceil(motion.n * (points.length + motion.nb) / 20000))) {
      motion.set(motion.time[i]);
      const take = () => { low.min(p); high.max(p); this.cloud.push(p.x, p.y, p.z); };
      for (const m of points) { markerPoint(m, motion, p); take(); }
      for (let b = 0; b < motion.nb; b++) { p.fromArray(motion.matrices, 16 * b + 12); take(); }
    }
  }

  // A motion in a plane is looked at from its side: the normal, and an upward direction in the plane.
  look(low, high) {
    const d = high.clone().sub(low), size = Math.max(d.x, d.y, d.z);
    const thin = this.scene.planar ? 'z' : ['z', 'y', 'x'].find(k => d[k] < 0.02 * size);
    this.flat = Boolean(thin) && !this.scene.forces.some(f => f.type === 'tyre');
    if (!this.flat) return;
    this.normal = new Vector3(thin === 'x', thin === 'y' ? -1 : 0, thin === 'z');
    if (Math.abs(this.up.dot(this.normal)) > 0.5) this.up.set(0, thin === 'z', thin !== 'z');
    this.camera.up.copy(this.up);
    this.sky.position.copy(this.up).addScaledVector(this.normal, 1);
  }

  // two directions square to up
  across() { return Math.abs(this.up.x) < 0.7 ? new Vector3(1, 0, 0).projectOnPlane(this.up).normalize() : new Vector3(0, 1, 0).projectOnPlane(this.up).normalize(); }
  side() { return new Vector3().crossVectors(this.up, this.across()); }

  // lines of the ground, or behind a planar mechanism
  makeGrid() {
    const planar = this.flat, normal = planar ? this.normal : this.up;
    const a = planar ? new Vector3().crossVectors(this.up, normal).normalize() : this.across(), b = new Vector3().crossVectors(normal, a);
    const reach = (planar ? 6 : 2.6) * this.radius, power = 10 ** Math.floor(Math.log10(this.radius / 2.5));
    this.cell = [1, 2, 5, 10].map(f => f * power).find(c => c >= this.radius / 5);
    const n = Math.ceil(reach / this.cell), lines = [[], []];
    const base = this.center.clone();
    const road = this.scene.forces.some(f => f.type === 'tyre');
    const least = Math.min(this.low.dot(normal), this.high.dot(normal));
    const floor = planar ? this.center.dot(normal) - 0.12 * this.scene.size : road ? 0 : this.levelPlane(normal) ?? least - 0.04 * this.scene.size;
    base.addScaledVector(normal, floor - base.dot(normal));
    const origin = [a, b].map(v => Math.round(base.dot(v) / this.cell) * this.cell);
    const at = (i, k) => normal.clone().multiplyScalar(floor).addScaledVector(a, origin[0] + i * this.cell).addScaledVector(b, origin[1] + k * this.cell);
    for (let i = -n; i <= n; i++) {
      for (const [p, q, main] of [[at(i, -n), at(i, n), origin[0] / this.cell + i], [at(-n, i), at(n, i), origin[1] / this.cell + i]]) {
        lines[Math.round(main) % 5 === 0 ? 1 : 0].push(...p.toArray(), ...q.toArray());
      }
    }
    this.grid = new Group();
    this.gridLines = lines.map(list => {
      const line = new LineSegments(this.geometry(list), new LineBasicMaterial());
      this.grid.add(line);
      return line;
    });
    if (this.sun.castShadow) {
      const plane = new Mesh(new PlaneGeometry(8 * this.radius, 8 * this.radius), new ShadowMaterial({opacity: 0.16}));
      plane.quaternion.setFromUnitVectors(new Vector3(0, 0, 1), this.up);
      plane.position.copy(base).addScaledVector(this.up, -1e-3 * this.radius);
      plane.receiveShadow = true;
      this.grid.add(plane);
    }
    this.world.add(this.grid);
  }

  // height of the lowest level plane of the ground that something touches
  levelPlane(normal) {
    const planes = this.scene.surfaces.filter(s => s.plane).map(s => ({up: s.up, a: touched(this.scene, s).a}))
      .filter(({up, a}) => a.body < 0 && normal.dot(new Vector3(a.frame[up], a.frame[3 + up], a.frame[6 + up])) > 0.9999);
    return planes.length ? Math.min(...planes.map(({a}) => normal.dot(new Vector3(...a.frame.slice(9))))) : null;
  }

  geometry(list) { return new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(list), 3)); }

  // paths of markers of the file, or of the bodies
  makeTraces() {
    const {motion, scene} = this, named = scene.markers.filter(m => m.a.body >= 0).map(m => m.a);
    const beams = scene.beams.map(b => ({body: b.first + b.count, frame: [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]}));
    const inBeam = new Set(scene.beams.flatMap(b => Array.from({length: b.count + 1}, (_, i) => b.first + i)));
    const origins = scene.bodies.map((_, body) => ({body, frame: [1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]})).filter(m => !inBeam.has(m.body));
    const list = (named.length ? named.concat(beams) : origins.concat(beams)).slice(0, 40), p = new Vector3();
    this.traces = new Group();
    this.traces.visible = false;
    const all = list.map(() => new Float32Array(3 * motion.n));
    for (let i = 0; list.length && i < motion.n; i++) {
      motion.set(motion.time[i]);
      list.forEach((m, k) => markerPoint(m, motion, p).toArray(all[k], 3 * i));
    }
    list.forEach((m, k) => {
      const line = new Line(new BufferGeometry().setAttribute('position', new BufferAttribute(all[k], 3)), new LineBasicMaterial({color: palette[m.body % palette.length]}));
      line.frustumCulled = false;
      this.traces.add(line);
    });
    this.world.add(this.traces);
  }

  // axes of the world and of each body
  makeFrames() {
    const triad = (length, list, colors) => [[1, 0, 0], [0, 1, 0], [0, 0, 1]].forEach((v, k) => {
      list.push(0, 0, 0, ...v.map(x => x * length));
      const c = new Color(['#e5484d', '#2f9e5b', '#3a78f2'][k]);
      colors.push(...c.toArray(), ...c.toArray());
    });
    this.axes = new Group();
    this.axes.visible = false;
    this.triads = [];
    for (let b = -1; b < Math.min(this.motion.nb, 200); b++) {
      const list = [], colors = [];
      triad((b < 0 ? 0.22 : 0.1) * this.scene.size, list, colors);
      const line = new LineSegments(this.geometry(list).setAttribute('color', new BufferAttribute(new Float32Array(colors), 3)), new LineBasicMaterial({vertexColors: true, depthTest: false}));
      line.matrixAutoUpdate = false;
      line.renderOrder = 2;
      line.body = b;
      this.axes.add(line);
      this.triads.push(line);
    }
    this.world.add(this.axes);
  }

  makeLabels() {
    const inBeam = new Set(this.scene.beams.flatMap(b => Array.from({length: b.count}, (_, i) => b.first + i)));
    this.labels = this.scene.bodies.map((name, body) => ({body, name})).filter(l => !inBeam.has(l.body)).slice(0, 150)
      .map(l => ({...l, element: make('span', {textContent: l.name})}));
    $('labels').append(...this.labels.map(l => l.element));
    $('labels').hidden = true;
  }

  // ------------------------------------------------------------------ camera

  preset(name) {
    const {up, flat} = this, y = flat ? this.normal : this.side().negate(), x = new Vector3().crossVectors(up, y);
    const home = flat ? y.clone() : x.clone().multiplyScalar(0.55).add(y.clone().multiplyScalar(0.9)).addScaledVector(up, 0.55);
    const from = {home, front: y, back: y.clone().negate(), top: up.clone().addScaledVector(y, 0.01), left: x.clone().negate(), right: x}[name].clone().normalize();
    const margin = this.loads?.arrows.length ? 0.1 * this.radius : 0, tan = Math.tan(this.camera.fov * Math.PI / 360); // of arrows
    const {away, target} = fit(this.cloud, from, up, this.center, 0.9 * tan * this.camera.aspect * (this.free ?? 1), 0.86 * tan * (this.below ?? 1), this.pad + margin);
    if (this.followed != null && this.followed >= 0) target.add(this.bodyAt(this.followed)).sub(this.followedStart);
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(from, away);
    this.camera.near = away / 200;
    this.camera.far = away * 30;
    this.camera.updateProjectionMatrix();
    this.controls.update();
    this.dirty = true;
  }

  bodyAt(b) { return new Vector3().fromArray(this.motion.matrices, 16 * b + 12); }

  follow(body) {
    this.followed = body;
    if (body >= 0) {
      this.motion.set(this.motion.t0);
      this.followedStart = this.bodyAt(body);
      this.motion.set(this.t);
      this.last = this.bodyAt(body);
    }
    if ($('follow')) $('follow').value = String(body);
    this.dirty = true;
  }

  resize() {
    const box = $('view').getBoundingClientRect();
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio || 1));
    this.renderer.setSize(box.width, box.height, false);
    const before = [this.camera.aspect, this.free, this.below].join();
    this.camera.aspect = box.width / Math.max(1, box.height);
    // an open panel covers the right side, title and buttons the top: the middle of the picture moves away from them
    const panel = $('panel').hidden ? 0 : $('panel').getBoundingClientRect().width + 12;
    this.free = panel < 0.6 * box.width ? 1 - panel / box.width : 1;
    const top = Math.min(0.3 * box.height, Math.max(...['tools', 'title'].map(id => $(id).offsetTop + $(id).offsetHeight)));
    const bottom = Math.min(0.2 * box.height, $('legend').childNodes.length ? $('legend').offsetHeight : 0);
    this.below = 1 - (top + bottom) / Math.max(1, box.height);
    this.camera.setViewOffset(box.width, box.height, this.free < 1 ? panel / 2 : 0, (bottom - top) / 2, box.width, box.height);
    this.camera.updateProjectionMatrix();
    if (before !== [this.camera.aspect, this.free, this.below].join() && !this.touched) this.preset('home');
    this.dirty = true;
  }

  // ------------------------------------------------------------------ time

  seek(t) {
    this.t = Math.min(this.motion.t1, Math.max(this.motion.t0, t));
    this.dirty = true;
  }

  step(n) {
    this.play(false);
    const i = this.motion.frame(this.t + 1e-12);
    this.seek(this.motion.time[Math.min(this.motion.n - 1, Math.max(0, i + n))]);
  }

  play(on = !this.playing) {
    if (on && this.t >= this.motion.t1) this.seek(this.motion.t0);
    this.playing = on && this.motion.t1 > this.motion.t0;
    $('play').replaceChildren(icon(icons[this.playing ? 'pause' : 'play']));
    $('play').title = this.playing ? 'pause (space)' : 'play (space)';
    this.dirty = true;
  }

  tick(now) {
    const dt = Math.min(0.1, (now - (this.now ?? now)) / 1000);
    this.now = now;
    if (this.playing) {
      let t = this.t + dt * this.speed * this.rate;
      if (t >= this.motion.t1) {
        if (this.loop) t = this.motion.t0;
        else { t = this.motion.t1; this.play(false); }
      }
      this.seek(t);
    }
    if (this.dirty) this.draw();
    requestAnimationFrame(next => this.tick(next));
  }

  draw() {
    this.dirty = false;
    const {motion} = this;
    motion.set(this.t);
    this.mechanism.update();
    this.others.update(this.t);
    this.sensitivity.update();
    this.loads.update();
    if (this.followed >= 0 && this.followed != null) {
      const at = this.bodyAt(this.followed), move = at.clone().sub(this.last ?? at);
      this.last = at;
      this.camera.position.add(move);
      this.controls.target.add(move);
      this.controls.update();
      const k = this.cell * 5, shift = at.clone().sub(this.followedStart).divideScalar(k).round().multiplyScalar(k);
      this.grid.position.copy(shift.projectOnPlane(this.flat ? this.normal : this.up));
      this.dirty = false;
    }
    const center = this.followed >= 0 && this.followed != null ? this.controls.target : this.center;
    this.sun.target.position.copy(center);
    this.sun.position.copy(center).add(this.sunAt);
    for (const line of this.traces.children) line.geometry.setDrawRange(0, motion.frame(this.t) + 1);
    for (const line of this.triads) line.body >= 0 ? line.matrix.fromArray(motion.matrices, 16 * line.body) : line.matrix.identity();
    this.renderer.render(this.world, this.camera);
    this.drawLabels();
    this.plots.draw(this.t, this.plotStyle);
    $('time').value = String((this.t - motion.t0) / (motion.t1 - motion.t0 || 1) * 10000);
    $('clock').textContent = this.t.toFixed(this.digits) + ' s / ' + short(motion.t1) + ' s';
    this.pictures = (this.pictures ?? 0) + 1;
  }

  // names beside their bodies, near ones first, where others leave room; a name keeps its side as long as it can
  drawLabels() {
    if (!this.show.labels) return;
    const box = $('labels').getBoundingClientRect(), p = new Vector3(), taken = [];
    for (const l of this.labels) {
      p.copy(this.bodyAt(l.body)).project(this.camera);
      Object.assign(l, {x: (p.x + 1) / 2 * box.width, y: (1 - p.y) / 2 * box.height, depth: p.z});
      l.w ??= l.element.offsetWidth + 2;
      l.h ??= l.element.offsetHeight + 1;
    }
    for (const l of [...this.labels].sort((a, b) => a.depth - b.depth)) {
      const {w, h} = l, sides = [[0, -h], [0, h], ...[0, -h, h, -2 * h, 2 * h, -3 * h, 3 * h, -4 * h, 4 * h].flatMap(y => [[w / 2 + 8, y], [-w / 2 - 8, y], [0, y]]).slice(0, -1)].filter(([x, y]) => x || y);
      const free = ([dx, dy]) => taken.every(t => Math.abs(l.x + dx - t.x) >= (w + t.w) / 2 || Math.abs(l.y + dy - t.y) >= (h + t.h) / 2);
      if (l.side && free(l.side)) sides.unshift(l.side);
      l.side = sides.find(free);
      l.element.style.visibility = l.side ? '' : 'hidden';
      if (!l.side) continue;
      const [x, y] = [l.x + l.side[0], l.y + l.side[1]];
      taken.push({x, y, w, h});
      l.element.style.left = x + 'px';
      l.element.style.top = y + 'px';
    }
  }

  // ------------------------------------------------------------------ controls

  theme(dark) {
    this.dark = dark;
    document.documentElement.classList.toggle('dark', dark);
    const css = getComputedStyle(document.documentElement), v = name => css.getPropertyValue(name).trim();
    this.world.background = new Color(v('--back'));
    this.gridLines[0].material.color.set(dark ? '#262d38' : '#e2e6ed');
    this.gridLines[1].material.color.set(dark ? '#363f4d' : '#cdd4de');
    this.sky.groundColor.set(dark ? '#4a5260' : '#9aa3b2');
    this.plotStyle = {grid: v('--grid'), text: v('--soft'), cursor: v('--accent'), label: v('--panel'), key: dark};
    this.dirty = true;
  }

  toggle(what, on = !this.show[what]) {
    this.show[what] = on;
    $('show-' + what)?.classList.toggle('on', on);
    this.grid.visible = this.show.grid;
    this.traces.visible = this.show.traces;
    this.axes.visible = this.show.frames;
    $('labels').hidden = !this.show.labels;
    this.dirty = true;
  }

  makeTools() {
    const choice = (id, title, options, change) => {
      const e = make('select', {id, title, onchange: () => { change(e.value); this.touched = true; $('canvas').focus(); }});
      e.append(...options.map(([value, text]) => make('option', {value, textContent: text})));
      return e;
    };
    const flip = (id, text, title, on) => make('button', {id: 'show-' + id, textContent: text, title, className: on ? 'on' : '', onclick: () => this.toggle(id)});
    const bodies = this.labels.map(l => [String(l.body), 'follow ' + l.name]);
    $('tools').append(
      choice('camera', 'camera (1 to 6)', ['home', 'front', 'back', 'top', 'left', 'right'].map(n => [n, n]), n => this.preset(n)),
      choice('follow', 'body that the camera follows', [['-1', 'follow nothing'], ...bodies], b => this.follow(+b)),
      flip('traces', 'traces', 'paths of points (t)'), flip('labels', 'names', 'names of bodies (n)'),
      flip('frames', 'axes', 'axes of bodies (a)'), flip('grid', 'grid', 'lines of the ground (g)', true),
      ...this.loads.buttons().map(([id, title, on]) => make('button', {id: 'show-' + id, textContent: id, title, className: on ? 'on' : '', onclick: () => this.loads.toggle(id)})),
      make('button', {id: 'theme', textContent: '◐', title: 'light or dark (d)', onclick: () => this.theme(!this.dark)}),
      make('button', {id: 'info', textContent: 'numbers', title: 'parameters and criteria (i)', onclick: () => this.openPanel()}),
    );
    $('name').textContent = this.scene.name;
    $('note').textContent = this.scene.note;
  }

  makeBar() {
    const span = this.motion.t1 - this.motion.t0;
    // motions of less than 2 s play slower, of more than 30 s faster
    this.rate = span > 0 && span < 2 ? span / 4 : span > 30 ? span / 20 : 1;
    this.digits = Math.min(6, Math.max(2, 3 - Math.floor(Math.log10(span || 1))));
    const speed = make('select', {id: 'speed', title: 'speed ([ and ])', onchange: () => { this.speed = +speed.value; $('canvas').focus(); }});
    const text = f => short(+(this.rate * f).toPrecision(2)) + ' ×';
    speed.append(...[0.1, 0.25, 0.5, 1, 2, 4].map(f => make('option', {value: f, textContent: text(f), selected: f === 1})));
    $('bar').append(
      make('button', {id: 'play', onclick: () => this.play()}),
      make('button', {id: 'back', title: 'one picture back (←)', className: 'wide', onclick: () => this.step(-1)}, icon(icons.back)),
      make('button', {id: 'next', title: 'one picture on (→)', className: 'wide', onclick: () => this.step(1)}, icon(icons.next)),
      make('input', {id: 'time', type: 'range', min: 0, max: 10000, step: 'any', value: 0, title: 'time', oninput: e => this.seek(this.motion.t0 + e.target.value / 10000 * span)}),
      make('output', {id: 'clock'}), speed,
      make('button', {id: 'loop', textContent: '↻', title: 'again from the start (l)', className: 'on', onclick: () => this.again()}),
      make('button', {id: 'curves', textContent: '∿', title: 'signals (p)', onclick: () => this.openPlots()}),
    );
    this.play(false);
  }

  again() { this.loop = !this.loop; $('loop').classList.toggle('on', this.loop); }

  makePlots() {
    const colors = k => palette[k % palette.length];
    this.plots = new Plots($('plot'), this.motion, colors, t => { this.play(false); this.seek(t); }, name => this.others.curves(name));
    this.motion.signals.forEach((s, k) => {
      const chip = make('button', {textContent: s.name, onclick: () => flip()});
      const flip = (on = !this.plots.shown.has(k)) => {
        this.plots.shown[on ? 'add' : 'delete'](k);
        chip.className = on ? 'on' : '';
        chip.style.background = on ? colors(k) : '';
        this.dirty = true;
      };
      $('chips').append(chip);
      if (k < 3) flip(true);
    });
    this.openPlots(this.motion.signals.length > 0);
  }

  openPlots(on = $('plots').hidden) {
    $('plots').hidden = !on;
    $('curves').classList.toggle('on', on);
    this.dirty = true;
  }

  openPanel(on = $('panel').hidden) {
    $('panel').hidden = !on;
    $('panel').style.top = $('tools').offsetTop + $('tools').offsetHeight + 8 + 'px'; // buttons may take two rows
    $('info').classList.toggle('on', on);
    this.resize();
  }

  makePanel() {
    const table = (title, list) => list.length ? [make('h2', {textContent: title}), make('table', {}, ...list.map(row => {
      const name = make('td', {textContent: row.name});
      if (row.note) name.append(make('small', {textContent: row.note}));
      return make('tr', {}, name, make('td', {textContent: short(row.value ?? NaN) + (row.unit ? ' ' + row.unit : '')}));
    }))] : [];
    $('panel').append(...table('criteria', this.scene.criteria), ...this.sensitivity.panel(), ...table('parameters', this.scene.parameters));
    $('info').hidden = !$('panel').childNodes.length;
  }

  // what the colours of ghosts mean
  legend() {
    const {sensitivity, others} = this, rows = [], dot = c => { const e = make('i'); e.style.background = c; return e; };
    const g = sensitivity.ghosts[sensitivity.chosen];
    if (others.list.length) rows.push(make('div', {}, dot('#4c8bf5'), this.scene.label));
    others.list.forEach((o, k) => rows.push(make('div', {className: o.on ? 'click' : 'click off', onclick: () => others.toggle(k), title: 'show or hide'}, dot(o.color), o.name)));
    if (g && sensitivity.show.ghosts) {
      const p = this.scene.parameters[g.parameter];
      GHOSTS.forEach((c, k) => rows.push(make('div', {}, dot(c), `${p.name} ${k ? '−' : '+'} ${short(sensitivity.delta)} ${p.unit ?? ''}, to first order`)));
    }
    if (sensitivity.show.colours) {
      const bar = make('u');
      bar.style.background = `linear-gradient(to right, ${[0, 0.2, 0.4, 0.6, 0.8, 1].map(x => heat(Math.sqrt(x)).getStyle()).join()})`;
      rows.push(make('div', {}, '0', bar, `${short(sensitivity.heatMost)}: |number × derivative| of ${sensitivity.criteria[sensitivity.criterion].name}`));
    }
    rows.push(...this.loads.legend(make, dot));
    $('legend').replaceChildren(...rows);
  }

  makeKeys() {
    const span = this.motion.t1 - this.motion.t0, speeds = [...$('speed').options].map(o => +o.value);
    const faster = n => {
      const i = Math.min(speeds.length - 1, Math.max(0, speeds.indexOf(this.speed) + n));
      this.speed = speeds[i];
      $('speed').value = speeds[i];
    };
    const keys = {
      ' ': () => this.play(), ArrowLeft: () => this.step(-1), ArrowRight: () => this.step(1), Home: () => this.seek(this.motion.t0),
      End: () => this.seek(this.motion.t1), PageUp: () => this.seek(this.t - span / 20), PageDown: () => this.seek(this.t + span / 20),
      '[': () => faster(-1), ']': () => faster(1), l: () => this.again(), t: () => this.toggle('traces'), n: () => this.toggle('labels'),
      a: () => this.toggle('frames'), g: () => this.toggle('grid'), d: () => this.theme(!this.dark), i: () => this.openPanel(), p: () => this.openPlots(),
      o: () => this.sensitivity.toggle('ghosts'), v: () => this.sensitivity.toggle('arrows'), c: () => this.scene.effects?.length && this.sensitivity.toggle('colours'),
      f: () => this.loads.toggle('forces'), m: () => this.loads.toggle('moments'), w: () => this.loads.toggle('weights'), s: () => this.loads.toggle('stresses'), e: () => this.loads.toggle('deformations'),
    };
    ['home', 'front', 'back', 'top', 'left', 'right'].forEach((name, k) => { keys[k + 1] = () => { this.touched = true; this.preset(name); $('camera').value = name; }; });
    window.addEventListener('keydown', e => {
      if (e.ctrlKey || e.metaKey || e.altKey || /SELECT|TEXTAREA/.test(e.target.tagName)) return;
      const key = keys[e.key];
      if (!key || (e.target.tagName === 'BUTTON' && e.key === ' ')) return;
      e.preventDefault();
      key();
    });
  }

  // names of elements under the pointer; a double click follows a body
  makePick() {
    const ray = new Raycaster(), at = new Vector2(), canvas = $('canvas');
    const pick = e => {
      const box = canvas.getBoundingClientRect();
      at.set((e.clientX - box.left) / box.width * 2 - 1, 1 - (e.clientY - box.top) / box.height * 2);
      ray.setFromCamera(at, this.camera);
      const arrow = this.loads.arrows.length && ray.intersectObject(this.loads.parts.group, true)[0], hit = arrow || ray.intersectObject(this.mechanism.group, true)[0];
      return hit && {item: hit.object.items?.[hit.instanceId], owner: hit.object.items?.[hit.instanceId]?.owner ?? hit.object.userData.owner};
    };
    canvas.addEventListener('pointerdown', () => { this.touched = true; });
    canvas.addEventListener('pointermove', e => {
      const hit = !e.buttons && this.motion.nb < 300 && pick(e), tip = $('tip');
      tip.hidden = !hit?.owner;
      if (!tip.hidden) {
        const box = $('view').getBoundingClientRect();
        tip.textContent = hit.item?.tip?.() ?? hit.owner;
        tip.style.left = e.clientX - box.left + 'px';
        tip.style.top = e.clientY - box.top + 'px';
      }
    });
    canvas.addEventListener('dblclick', e => { const hit = pick(e); if (hit?.item?.isBody) this.follow(hit.item.body); });
  }
}

window.mbgradView = readData($('data').textContent.trim()).then(data => {
  const view = new View(data);
  $('message').hidden = true;
  return view;
});
