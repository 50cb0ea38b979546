// Loads in pages of `mbgrad view --loads`: node tests/web/loads.mjs
//
// Arrows have one scale, stand where their elements are and balance the motion: on each body of a mechanism, arrows and
// weight add up to mass x acceleration. Stresses of a beam are those of its signal, and colours go from blue to red.
// MBGRAD: the program; SRC: the source tree. Status 77 without chromium or the packages of web/ (npm ci --prefix web).
import {check, failures, needBrowser, openPage, program} from './support.mjs';

const {browser, folder, close} = await needBrowser();

async function open(model, ...more) {
  const file = `${folder}/${model.split('/').pop()}.html`;
  program(folder, 'view', model, '--loads', '--out', file, '--quiet', ...more);
  return openPage(browser, file, model);
}

// arrows at a frame: lengths by the scale of the legend
async function arrows(page, model) {
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    v.loads.toggle('moments', true);
    v.loads.toggle('weights', true);
    v.seek(v.motion.time[Math.round(0.4 * (v.motion.n - 1))]);
    v.draw();
    return {scales: v.loads.scales, size: v.scene.size, arrows: v.loads.arrows.map(a => ({
      name: a.name, kind: a.kind, moment: a.moment, length: a.from.distanceTo(a.to), value: a.value.toArray(), from: a.from.toArray(),
    }))};
  }));
  check(got.arrows.length > 0, model, 'no arrows');
  for (const a of got.arrows) {
    const right = Math.hypot(...a.value) / got.scales[a.moment ? 1 : 0];
    check(Math.abs(a.length - right) <= 1e-5 * got.size + 1e-5 * right, model, a.name, 'length', a.length, right);
  }
  const longest = Math.max(...got.arrows.filter(a => !a.moment && a.kind !== 'weight').map(a => a.length));
  check(longest < 3 * got.size, model, 'the longest arrow has', longest, 'of', got.size);
}

// Forces on a body of a free pendulum or on a rope, by arrows of these names, and its acceleration, by differences of its poses.
async function balance(page, name, elements) {
  const off = await page.evaluate(([name, elements]) => window.mbgrad.then(v => {
    const {time, n} = v.motion, i = Math.round(0.6 * n), body = v.scene.bodies.indexOf(name), h = time[i + 1] - time[i];
    const weight = v.data.loads.weights.find(w => w[0] === body), mass = weight[5] / -9.81;
    const centre = k => {
      v.seek(time[k]);
      v.draw();
      const m = v.motion.matrices, at = 16 * body;
      return [0, 1, 2].map(r => m[at + 12 + r] + m[at + r] * weight[1] + m[at + 4 + r] * weight[2] + m[at + 8 + r] * weight[3]);
    };
    const [a, c, b] = [centre(i - 1), centre(i + 1), centre(i)], sum = [0, 0, 0];
    for (const x of v.loads.arrows) {
      const on = x.kind === 'weight' ? x.name === name : elements.includes(x.name);
      if (on && !x.moment) x.value.toArray().forEach((f, k) => { sum[k] += f; });
    }
    return sum.map((f, k) => f - mass * (a[k] - 2 * b[k] + c[k]) / (h * h)).concat(Math.hypot(...sum));
  }), [name, elements]);
  check(Math.hypot(...off.slice(0, 3)) < 0.02 * off[3], name, 'forces and accelerations differ by', off.join());
}

async function controls(page, model) {
  const state = () => page.evaluate(() => window.mbgrad.then(v => { v.draw(); return {...v.loads.show, longest: Math.max(...v.loads.arrows.filter(a => !a.moment && a.kind !== 'weight').map(a => a.length))}; }));
  check((await state()).forces && (await state()).longest > 0, model, 'forces are shown');
  check(/forces: a cell of the grid \(.* m\) is .* N/.test(await page.textContent('#legend')), model, 'legend', await page.textContent('#legend'));
  await page.click('#show-forces');
  check(!(await state()).forces && (await state()).longest === 0, model, 'forces go');
  await page.keyboard.press('f');
  check((await state()).forces, model, 'key f');
  const before = await state();
  await page.keyboard.press('m');
  await page.keyboard.press('w');
  const after = await state();
  check(after.weights !== before.weights, model, 'key w');
}

async function stresses(page, model) {
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    const signal = v.data.signals.find(s => s.name === 'fibre').values, out = [];
    for (const part of [0.3, 0.7, 1]) {
      const i = Math.round(part * (v.motion.n - 1));
      v.seek(v.motion.time[i]);
      v.draw();
      out.push([v.loads.stressAt(v.loads.beams[0], 4.5, 0, 0.5), signal[i]]);
    }
    const {tube} = v.loads.beams[0], c = [...tube.geometry.attributes.color.array], on = tube.mesh.material.vertexColors;
    v.loads.toggle('stresses');
    return {out, most: v.loads.most, red: Math.max(...c.map((x, k) => (k % 3 ? 0 : x - c[k + 2]))), on, off: tube.mesh.material.vertexColors};
  }));
  for (const [a, b] of got.out) check(Math.abs(a - b) < 1e-4 * got.most, model, 'stress', a, b);
  check(got.red > 0.01 && got.on && !got.off, model, 'colours', got.red, got.on, got.off);
  await page.keyboard.press('s');
  check(/-.* .?Pa.*Pa: normal stress/.test(await page.textContent('#legend')), model, 'legend of stresses', await page.textContent('#legend'));
}

// Modal beams: the stress of bending at a station is E y u'', with second differences of the displacements that are drawn;
// nodes without elements have the colours of their displacements.
async function modal(page, model) {
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    const out = [], b = v.loads.modalBeams[0];
    for (const part of [0.3, 0.6, 0.9]) {
      v.seek(v.motion.time[Math.round(part * (v.motion.n - 1))]);
      v.draw();
      const u = b.stations.map(s => Array.from({length: b.n}, (_, j) => s[3 + 6 * j + 1] * v.motion.eta[b.first + j]).reduce((x, y) => x + y, 0));
      for (const i of [2, 7]) { // inside of elements
        const h = b.stations[i + 1][0] - b.stations[i][0], bend = (u[i + 1] - 2 * u[i] + u[i - 1]) / (h * h);
        out.push([(v.loads.modalStress(b, i, 0.5, 0) - v.loads.modalStress(b, i, -0.5, 0)) / 2, -b.modulus[i] * b.section[0] / 2 * bend]);
      }
    }
    return {out, most: v.loads.most, on: b.tube.mesh.material.vertexColors};
  }));
  for (const [a, b] of got.out) check(Math.abs(a - b) < 2e-3 * got.most, model, 'stress', a, b);
  check(got.out.some(([a]) => Math.abs(a) > 0.02 * got.most) && got.on, model, 'stresses', got.out.join());
  check(/Pa: normal stress/.test(await page.textContent('#legend')), model, 'legend', await page.textContent('#legend'));
}

async function nodes(page, model) {
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    const seen = [];
    for (let i = 0; i < v.motion.n; i += 5) {
      v.seek(v.motion.time[i]);
      v.draw();
      for (const {item} of v.loads.bent) seen.push(item.shown.getHexString());
    }
    return {seen: new Set(seen).size, bent: v.loads.bent.length, most: v.loads.bentMost};
  }));
  check(got.bent > 0 && got.seen > 5 && got.most > 0, model, 'deformations', JSON.stringify(got));
  check(/m: deformation/.test(await page.textContent('#legend')), model, 'legend', await page.textContent('#legend'));
  await page.keyboard.press('e');
  check(!/m: deformation/.test(await page.textContent('#legend')), model, 'key e');
}

// The contacts of tests/web/contacts: spheres have their size, forces act where shapes touch and are what signals say;
// planes and roads lie below the spheres, move with the road, and hide nothing.
async function contacts(page, model) {
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    const out = {forces: [], roads: [], looks: []}, V = v.camera.position.constructor, M = v.camera.matrix.constructor;
    for (const s of v.mechanism.surfaces.list) for (const o of [s.fill, s.lines]) out.looks.push([o.material.transparent, o.material.depthWrite, o.material.opacity]);
    for (let i = 0; i < v.motion.n; i += 7) {
      v.seek(v.motion.time[i]);
      v.draw();
      for (const f of v.scene.forces) {
        const matrix = m => new M().set(...[0, 1, 2].flatMap(r => [...m.frame.slice(3 * r, 3 * r + 3), m.frame[9 + r]]), 0, 0, 0, 1).premultiply(m.body < 0 ? new M() : new M().fromArray(v.motion.matrices, 16 * m.body));
        const A = matrix(f.a).invert(), x = new V().setFromMatrixPosition(matrix(f.b)).applyMatrix4(A), a = v.loads.arrows.find(a => a.name === f.name);
        const signal = v.data.signals.find(s => s.name === f.name)?.values[i];
        if (a) out.forces.push({name: f.name, depth: v.data.signals.find(s => s.name === 'depth').values[i], contact: f.contact, x: x.toArray(), at: a.from.clone().applyMatrix4(A).toArray(), force: a.value.length(), signal, t: v.t});
      }
    }
    const spheres = v.mechanism.parts.meshes.flatMap(m => m.items.filter(o => o.opacity < 1).map(o => ({kind: o.kind, owner: o.owner, size: new V().setFromMatrixScale(o.local).toArray(), opacity: m.material.opacity})));
    return {...out, spheres};
  }));
  const norm = v => Math.hypot(...v), names = new Set(got.forces.map(f => f.name));
  check([...names].sort().join() === 'hang,knock,ride,rolls,slide,tyre', model, 'forces', [...names].join());
  for (const {name, depth, contact: [, , r, ra], x, at, force, signal, t} of got.forces) {
    const far = norm(at.map((c, k) => c - x[k])), ok = (off, what) => check(Math.abs(off) < 2e-4, model, name, what, off, 't =', t);
    if (name === 'slide') { ok(at[2] - (x[2] - r), 'plane'); ok(far - r, 'radius'); }
    if (name === 'rolls') ok(norm(at) - (norm(x) + r), 'socket');
    if (name === 'knock') ok(norm(at) - (norm(x) - r), 'spheres');
    if (name === 'hang') ok(Math.hypot(at[0], at[1]) - (Math.hypot(x[0], x[1]) + r), 'hole');
    if (name === 'ride') check(Math.abs(at[2] - 0.03 * Math.sin(6 * at[0])) < 1e-3 && Math.abs(far - (r - depth)) < 5e-4, model, 'road', at, far, depth);
    if (name === 'tyre') ok(at[2] - 0.03 * (1 - Math.cos(10 * t)), 'moving road');
    if (/rolls|knock|hang/.test(name)) check(Math.abs(force - signal) < 1e-3 * (1 + signal), model, name, 'force', force, signal);
    if (/slide|ride/.test(name)) check(force >= signal - 1e-3 * (1 + signal) && force < 1.1 * signal + 1e-2, model, name, 'force with friction', force, signal);
    check(ra >= 0, model, 'radius of A', ra);
  }
  for (const [transparent, depth, opacity] of got.looks) check(transparent && !depth && opacity <= 0.5, model, 'look of a surface', transparent, depth, opacity);
  for (const [owner, kind, r] of [['slider', 'sphere', 0.1], ['marble', 'sphere', 0.04], ['ground', 'sphere', 0.16], ['ring', 'cylinder', 0.05], ['ground', 'cylinder', 0.03], ['roller', 'sphere', 0.1]]) {
    check(got.spheres.some(s => s.owner === owner && s.kind === kind && Math.abs(s.size[0] - r) < 1e-6), model, 'no', kind, 'of', r, 'on', owner);
  }
}

try {
  for (const model of ['double-pendulum-spring', 'quarter-car', 'cantilever', 'bricard']) {
    const page = await open(model);
    if (model === 'double-pendulum-spring') {
      await controls(page, model);
      await balance(page, 'body2', ['joint elbow', 'spring']);
    }
    await arrows(page, model);
    await page.close();
  }
  const page = await open('flexible-slider-crank-beam', '--end', '0.01');
  await stresses(page, 'flexible-slider-crank-beam');
  await page.close();
  const rod = await open('flexible-pendulum');
  await modal(rod, 'flexible-pendulum');
  await rod.close();
  const arm = await open('two-arm', '--end', '0.1');
  await nodes(arm, 'two-arm');
  await arm.close();
  const ropes = await open('tests/web/tendons');
  await balance(ropes, 'weight', ['band']);
  await arrows(ropes, 'tendons');
  await ropes.close();
  const touch = await open('tests/web/contacts');
  await contacts(touch, 'contacts');
  await touch.close();
} finally {
  await close();
}
process.exit(failures() ? 1 : 0);
