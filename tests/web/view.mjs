// Pages of `mbgrad view` in a browser: node tests/web/view.mjs MODEL ... (names of the gallery, or folders; all: every model)
//
// Opens each page from file:// in Debian's chromium and checks that nothing is reported or loaded, that the picture is
// not empty, that bodies are where the simulation says at three times, and that buttons, keys, slider and plots work.
// MBGRAD: the program; SRC: the source tree. Status 77 without chromium or the packages of web/ (npm ci --prefix web).
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {check, failures, needBrowser, openPage, poses, program} from './support.mjs';

const {SRC} = process.env;
const {browser, folder, close} = await needBrowser();

let models = process.argv.slice(2);
if (models[0] === 'all') models = readdirSync(join(SRC, 'gallery')).filter(m => existsSync(join(SRC, 'gallery', m, 'model.json')));

// how many colours the picture has
const colours = page => page.evaluate(async () => {
  const view = await window.mbgrad, from = document.getElementById('canvas'), c = document.createElement('canvas');
  view.draw();
  c.width = c.height = 200;
  const g = c.getContext('2d');
  g.drawImage(from, 0, 0, 200, 200);
  return new Set(new Uint32Array(g.getImageData(0, 0, 200, 200).data.buffer)).size;
});

async function positions(page, table, model) {
  const size = await page.evaluate(() => window.mbgrad.then(v => Math.max(v.scene.size, v.radius)));
  for (const part of [0, 0.37, 1]) {
    const got = await page.evaluate(part => window.mbgrad.then(v => {
      v.seek(v.motion.time[Math.round(part * (v.motion.n - 1))]);
      v.draw();
      return {t: v.t, at: v.scene.bodies.map((name, b) => ({name, x: [...v.motion.matrices.slice(16 * b + 12, 16 * b + 15)]}))};
    }), part);
    const row = table.rows.reduce((best, r) => (Math.abs(r[0] - got.t) < Math.abs(best[0] - got.t) ? r : best));
    for (const {name, x} of got.at) {
      const k = table.head.indexOf(name + '.x');
      const off = k < 0 ? Infinity : Math.hypot(...x.map((v, i) => v - row[k + i]));
      check(off <= 1e-6 * size + 1e-6 * Math.hypot(...x), model, name, 't =', got.t, 'is off by', off, 'of size', size);
    }
  }
}

async function controls(page, model) {
  const state = () => page.evaluate(() => window.mbgrad.then(v => ({
    t: v.t, t0: v.motion.t0, t1: v.motion.t1, playing: v.playing, dark: v.dark, speed: v.speed, loop: v.loop, show: {...v.show},
    eye: v.camera.position.toArray(), plots: document.getElementById('plots').hidden, next: v.motion.time[1], shown: v.plots.shown.size,
  })));
  const press = async key => { await page.keyboard.press(key); return state(); };
  let s = await press('Home');
  check(s.t === s.t0, model, 'Home');
  s = await press('End');
  check(s.t === s.t1, model, 'End');
  s = await press('Home');
  s = await press('ArrowRight');
  check(s.t === s.next, model, 'one picture on');
  s = await press('ArrowLeft');
  check(s.t === s.t0, model, 'one picture back');
  s = await press(']');
  check(s.speed === 2, model, 'faster');
  for (const [key, what] of [['t', 'traces'], ['n', 'labels'], ['a', 'frames'], ['g', 'grid']]) {
    const before = (await state()).show[what];
    s = await press(key);
    check(s.show[what] === !before, model, 'key', key);
  }
  const names = await page.evaluate(() => window.mbgrad.then(v => {
    v.toggle('labels', true);
    v.draw();
    const boxes = v.labels.map(l => l.element).filter(e => e.style.visibility !== 'hidden').map(e => e.getBoundingClientRect());
    v.toggle('labels', false);
    return {all: v.labels.length, shown: boxes.length, over: boxes.flatMap((a, i) => boxes.slice(0, i).filter(b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)).length};
  }));
  check(names.over === 0 && (names.shown === names.all || names.shown > 8), model, 'names lie over each other', JSON.stringify(names));
  const dark = s.dark;
  await page.click('#theme');
  check((await state()).dark === !dark, model, 'theme');
  const eye = (await state()).eye;
  s = await press('4');
  check(s.eye.some((v, i) => Math.abs(v - eye[i]) > 1e-6), model, 'camera from the top');
  await page.locator('#time').evaluate(e => { e.value = 5000; e.dispatchEvent(new Event('input')); });
  s = await state();
  check(Math.abs(s.t - (s.t0 + s.t1) / 2) <= 1e-6 * (s.t1 - s.t0), model, 'slider', s.t);
  await page.click('#play');
  let later = await state(); // a busy machine may take seconds to the next picture
  for (let i = 0; i < 100 && !(later.playing && later.t !== s.t); i++) {
    await page.waitForTimeout(200);
    later = await state();
  }
  check(later.playing && later.t !== s.t, model, 'play');
  s = await press(' ');
  check(!s.playing, model, 'pause by the space bar');
  if (s.shown) {
    const box = await page.locator('#plot').boundingBox();
    await page.mouse.click(box.x + box.width / 3, box.y + box.height / 2);
    check((await state()).t < later.t1 * 0.5 + later.t0 * 0.5, model, 'click into a plot');
  }
  if (await page.locator('#info').isVisible()) {
    await page.click('#info');
    check(await page.locator('#panel').isVisible(), model, 'panel');
  } else { // a model without parameters and criteria has nothing to show there
    check(await page.evaluate(() => document.getElementById('panel').childNodes.length === 0), model, 'no panel');
  }
}

// the shapes of tests/web/shapes: kinds, colours, places, and the mesh that its file has
async function shapes(page, model) {
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    v.seek(v.motion.t0);
    v.draw();
    const parts = v.mechanism.parts.meshes.flatMap(m => m.items.map((item, i) => ({
      owner: item.owner, kind: item.kind, color: '#' + item.color.getHexString(), at: [...m.instanceMatrix.array.slice(16 * i + 12, 16 * i + 15)],
      opacity: m.material.opacity,
    })));
    return {parts, meshes: v.scene.meshes.map(m => ({points: [...m.points], corners: m.corners.length}))};
  }));
  const points = readFileSync(join(SRC, model, 'nut.obj'), 'utf8').split('\n').filter(l => l.startsWith('v ')).flatMap(l => l.slice(2).split(' ').map(Number));
  check(got.meshes.length === 1 && got.meshes[0].corners === 3 * 120, model, 'one mesh of 120 triangles');
  check(got.meshes[0].points.every((x, i) => Math.abs(x - points[i]) < 1e-3), model, 'vertices of the mesh');
  const of = owner => got.parts.filter(p => p.owner === owner), near = (a, b) => Math.hypot(...a.map((x, i) => x - b[i])) < 1e-6;
  const c = Math.cos(70 * Math.PI / 180), s = Math.sin(70 * Math.PI / 180);
  check(of('upper').map(p => p.kind).sort().join() === 'box,cylinder,sphere,sphere', model, 'upper', of('upper').map(p => p.kind).join());
  check(of('upper').find(p => p.kind === 'box').opacity === 0.4, model, 'opacity');
  check(near(of('upper').find(p => p.kind === 'box').at, [-0.3 * s, 0, -0.3 * c]), model, 'place of the box');
  const nut = of('lower').find(p => p.kind.startsWith('mesh'));
  check(nut.color === '#c9a227' && near(nut.at, [-0.6 * s, 0, -0.6 * c - 0.45]), model, 'the mesh', JSON.stringify(nut));
  check(of('ground').map(p => p.kind).sort().join() === 'box,cone,cylinder', model, 'ground', of('ground').map(p => p.kind).join());
  check(near(of('ground').find(p => p.kind === 'box').at, [0, 0, 0.06]), model, 'place of the base');
}

// the wheels and balls of tests/web/rolling have the radii they roll on and stand on their planes
async function rolling(page, model) {
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    v.seek(v.motion.t0);
    v.draw();
    const shapes = v.scene.shapes.filter(s => s.wheel).map(s => ({body: v.scene.bodies[s.body], kind: s.kind, radius: s.size[0]}));
    const floor = v.gridLines[0].geometry.attributes.position.array[2];
    return {shapes, floor, planes: v.scene.surfaces.map(s => ({plane: s.plane, joint: v.scene.joints[s.joint].name}))};
  }));
  const expected = {coin: ['cylinder', 0.02], wheel: ['cylinder', 0.024], marble: ['sphere', 0.01]};
  check(got.shapes.length === 3, model, 'shapes that roll', JSON.stringify(got.shapes));
  for (const s of got.shapes) check(s.kind === expected[s.body][0] && Math.abs(s.radius - expected[s.body][1]) < 1e-9, model, JSON.stringify(s));
  check(got.planes.map(p => p.joint).sort().join() === 'floor,slope', model, 'planes', JSON.stringify(got.planes));
  check(Math.abs(got.floor) < 1e-9, model, 'the grid lies on the plane of the coin', got.floor);
}

// the ropes of tests/web/tendons are as long as the signals say: straight parts and arcs (of a piece with chord c: 2 R asin(c/2R))
async function tendons(page, model) {
  const got = await page.evaluate(() => window.mbgrad.then(v => [0, 0.45, 1].flatMap(part => {
    v.seek(v.motion.time[Math.round(part * (v.motion.n - 1))]);
    v.draw();
    return v.mechanism.ropes.map(({rope, places, line}) => {
      const radii = places.flatMap(p => (p.left ? [...Array(24).fill(Math.abs(p.left)), 0] : [0]));
      const length = line.slice(1).reduce((sum, p, i) => { const c = p.distanceTo(line[i]), R = radii[i]; return sum + (R ? 2 * R * Math.asin(c / 2 / R) : c); }, 0);
      return {name: rope.name, t: v.t, length, want: v.motion.signals.find(s => s.name === rope.name + '_length').values[v.motion.frame(v.t)]};
    });
  })));
  check(got.length === 6 && got[0].want > 1, model, 'ropes', got.length);
  // signals of the page are kept to 1e-6 of their size, poses to 1e-7
  for (const r of got) check(Math.abs(r.length - r.want) < 1e-5 * r.want, model, 'rope', r.name, 't =', r.t, 'is', r.length, 'not', r.want);
}

// the curves of tests/web/curves: kinds, and the parts of joints lie on them in the motion
async function curves(page, model) {
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    const kinds = v.scene.curves.map(c => `${v.scene.joints[c.joint].name} ${c.end} ${c.kind}`).sort().join(), far = {};
    const frame = m => { // world frame of a marker, columns as in three.js
      const f = m.frame, b = m.body < 0 ? [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] : v.motion.matrices.slice(16 * m.body, 16 * m.body + 16);
      const turn = x => [0, 1, 2].map(i => b[i] * x[0] + b[4 + i] * x[1] + b[8 + i] * x[2]);
      return {at: turn(f.slice(9)).map((x, i) => x + b[12 + i]), axes: [0, 1, 2].map(k => turn([f[k], f[3 + k], f[6 + k]]))};
    };
    const world = (m, x) => { const {at, axes} = frame(m); return at.map((a, i) => a + axes[0][i] * x[0] + axes[1][i] * x[1] + axes[2][i] * x[2]); };
    const local = (m, p) => { const {at, axes} = frame(m); return axes.map(e => e.reduce((s, c, i) => s + c * (p[i] - at[i]), 0)); };
    const points = c => Array.from({length: c.points.length / 3}, (_, i) => c.points.slice(3 * i, 3 * i + 3));
    const toSegment = (p, a, b) => {
      const d = b.map((x, i) => x - a[i]), l2 = d.reduce((s, x) => s + x * x, 0), t = Math.min(1, Math.max(0, d.reduce((s, x, i) => s + x * (p[i] - a[i]), 0) / (l2 || 1)));
      return Math.hypot(...p.map((x, i) => x - a[i] - t * d[i]));
    };
    const nearest = (p, list, closed) => Math.min(...list.slice(closed ? 0 : 1).map((a, i) => toSegment(p, a, list[closed ? (i + 1) % list.length : i])));
    for (const part of [0, 0.4, 1]) {
      v.seek(v.motion.time[Math.round(part * (v.motion.n - 1))]);
      v.draw();
      for (const j of v.scene.joints) {
        const c = v.scene.curves.find(o => v.scene.joints[o.joint] === j && o.end === 'a') ?? v.scene.curves.find(o => v.scene.joints[o.joint].name === 'roll' && o.end === 'a');
        const x = local(j.a, world(j.b, [0, 0, 0]));
        const off = j.type === 'point-on-curve' ? nearest(x, points(c), c.closed) : j.type === 'roller-on-curve' ? nearest(x, points(c), true) - 0.01
          : j.type === 'point-on-surface' ? x[2] - 2 * x[0] ** 2 - x[1] ** 2
            : j.type === 'flat-on-curve' ? Math.max(...points(c).map(p => local(j.b, world(j.a, p))[1]))
              : j.type === 'curve-on-curve' ? Math.min(...points(v.scene.curves.find(o => v.scene.joints[o.joint] === j && o.end === 'b')).map(p => nearest(local(j.a, world(j.b, p)), points(c), true))) : null;
        if (off !== null) far[j.name] = Math.max(far[j.name] ?? 0, Math.abs(off));
      }
    }
    const grid = v.scene.curves.find(c => c.kind === 'grid'), surface = Math.max(...points(grid).map(([x, y, z]) => Math.abs(z - 2 * x * x - y * y)));
    return {kinds, far, surface, roller: v.scene.shapes.filter(s => s.kind === 'cylinder' && s.size[0] === 0.01).length};
  }));
  check(got.kinds === 'face b plate,groove a line,hollow a grid,roll a plate,thread a line,touch b plate', model, got.kinds);
  check(got.roller === 1, model, 'one roller');
  for (const [name, off] of Object.entries(got.far)) check(off < 2e-4, model, name, 'is off its curve by', off); // lines are as fine as 2e-4 of their size
  check(Object.keys(got.far).length === 6, model, Object.keys(got.far).join());
  check(got.surface < 2e-3, model, 'lines of the surface are off by', got.surface); // chords of a thirtieth of the box
}

// at home the whole motion lies in the picture, between title and plots, and is not lost in it
async function framing(page, model) {
  const far = await page.evaluate(() => window.mbgrad.then(v => {
    const p = v.center.clone(), at = [Infinity, -Infinity, Infinity, -Infinity];
    v.seek(v.motion.t0); // where a mechanism that travels is followed from
    v.draw();
    v.preset('home');
    v.camera.updateMatrixWorld();
    for (let i = 0; i < v.cloud.length; i += 3) {
      p.set(v.cloud[i], v.cloud[i + 1], v.cloud[i + 2]).project(v.camera);
      at[0] = Math.min(at[0], p.x); at[1] = Math.max(at[1], p.x); at[2] = Math.min(at[2], p.y); at[3] = Math.max(at[3], p.y);
    }
    return at;
  }));
  const [x0, x1, y0, y1] = far;
  check(Math.max(-x0, x1, -y0, y1) <= 1, model, 'reaches out of the picture', far.join(' '));
  check(Math.max(x1 - x0, y1 - y0) > 0.5, model, 'is small in the picture', far.join(' '));
}

try {
  for (const model of models) {
    const file = join(folder, basename(model) + '.html'), csv = join(folder, basename(model) + '.csv');
    program(folder, 'view', model, '--out', file, '--quiet');
    program(folder, 'simulate', model, '--poses', csv, '--quiet');
    const page = await openPage(browser, file, model);
    check(await colours(page) > 20, model, 'the picture is empty:', await colours(page), 'colours');
    await positions(page, poses(csv), model);
    await framing(page, model);
    if (basename(model) === 'rolling') await rolling(page, model);
    if (basename(model) === 'shapes') await shapes(page, model);
    if (basename(model) === 'tendons') await tendons(page, model);
    if (basename(model) === 'curves') await curves(page, model);
    await controls(page, model);
    await page.close();
    console.log(model);
  }
} finally {
  await close();
}
process.exit(failures() ? 1 : 0);
