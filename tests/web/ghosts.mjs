// Derivatives of the motion in pages of `mbgrad view --gradient`: node tests/web/ghosts.mjs MODEL[:PARAMETER[:STEP]] ...
// (STEP: by `lie` at this step, where the model asks for free steps: other parameters would give other times; all: every
// model of the gallery with parameters, for the first of those that move a criterion most).
//
// The ghost at p + delta, less the motion itself, is delta times the derivative: compared with central differences of
// the poses of two simulations, for positions and rotations of all bodies. Also: bars choose parameters and mark
// elements, colours and arrows come and go, runs beside the first one are where their own simulation says.
// MBGRAD: the program; SRC: the source tree. Status 77 without chromium or the packages of web/ (npm ci --prefix web).
import {execFileSync} from 'node:child_process';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {check, failures, needBrowser, openPage, poses, program} from './support.mjs';

const {browser, folder, close} = await needBrowser();

const run = (...args) => program(folder, ...args);
const join = name => folder + '/' + name;

function table(model, name, p, value, times) {
  const file = join(name + '.csv');
  run('simulate', model, '--set', `${p}=${value}`, '--poses', file, '--quiet', ...times);
  return poses(file);
}

// rotation matrix (row-major) of a quaternion
const matrix = ([x, y, z, w]) => [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w), 2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
  2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)];

function bodyAt({head, rows}, t, name) {
  const row = rows.reduce((best, r) => (Math.abs(r[0] - t) < Math.abs(best[0] - t) ? r : best)), k = head.indexOf(name + '.x');
  const q = ['qx', 'qy', 'qz', 'qw'].map(c => row[head.indexOf(`${name}.${c}`)]);
  return {at: row.slice(k, k + 3), R: matrix(q)};
}

// central differences have an error of their own: that of step h, estimated by those of step h/2
async function derivative(page, model, p, times, effect) {
  const value = await page.evaluate(name => window.mbgrad.then(v => v.scene.parameters.find(q => q.name === name).value), p);
  let h, near;
  for (const part of [1e-4, 1e-5, 1e-6]) { // where the time of an event passes a node, the steps change their number and differences jump
    h = part * (Math.abs(value) || 1);
    near = [h, h / 2].map(d => [table(model, 'plus', p, value + d, times), table(model, 'minus', p, value - d, times)]);
    if (new Set(near.flat().map(t => t.rows.length)).size === 1) break;
  }
  const worst = {at: [0, 0], R: [0, 0]}; // error, size
  const note = (kind, [d, half], g) => {
    const error = Math.max(0, Math.abs(half - g) - Math.abs(d - half));
    worst[kind] = [Math.max(worst[kind][0], error), Math.max(worst[kind][1], Math.abs(half))];
  };
  for (const part of [0, 0.31, 0.77, 1]) {
    const got = await page.evaluate(({part, p, h}) => window.mbgrad.then(v => {
      const s = v.sensitivity, k = s.ghosts.findIndex(g => v.scene.parameters[g.parameter].name === p);
      s.choose(k);
      s.setDelta(h);
      v.seek(v.motion.time[Math.round(part * (v.motion.n - 1))]);
      v.draw();
      const of = m => v.scene.bodies.map((_, b) => [...m.matrices.slice(16 * b, 16 * b + 16)]);
      return {t: v.t, names: v.scene.bodies, tangents: v.scene.bodies.map((_, b) => [...s.pair[0].motion.tangent(b, [])]), base: of(v.motion)};
    }), {part, p, h});
    got.names.forEach((name, b) => {
      const sides = near.map(([plus, minus]) => [bodyAt(plus, got.t, name), bodyAt(minus, got.t, name)]), m = got.base[b], w = got.tangents[b];
      const skew = [[0, -w[5], w[4]], [w[5], 0, -w[3]], [-w[4], w[3], 0]];
      for (let i = 0; i < 3; i++) {
        note('at', sides.map(([A, B], k) => (A.at[i] - B.at[i]) * 2 ** k / (2 * h)), m[i] * w[0] + m[4 + i] * w[1] + m[8 + i] * w[2]);
        for (let j = 0; j < 3; j++) {
          note('R', sides.map(([A, B], k) => (A.R[3 * i + j] - B.R[3 * i + j]) * 2 ** k / (2 * h)), [0, 1, 2].reduce((sum, l) => sum + m[4 * l + i] * skew[l][j], 0));
        }
      }
    });
  }
  const most = await page.evaluate(p => window.mbgrad.then(v => {
    const {poses: all} = v.data.ghosts.find(g => v.scene.parameters[g.parameter].name === p), of = first => all.reduce((m, x, i) => (i % 6 < 3 === first ? Math.max(m, Math.abs(x)) : m), 0);
    return {at: of(true), R: of(false)};
  }), p);
  for (const [kind, [error, size]] of Object.entries(worst)) {
    // the page keeps derivatives to 1e-5 of the largest in the motion; Newton's iterations leave about 1e-12 in poses, which differences divide by h
    check(error <= 2e-5 * Math.max(size, most[kind], worst.at[1] * 1e-3) + Math.max(1e-7, 2e-12 / h), model, p, kind, 'is off by', error, 'of', size);
  }
  if (effect) check(worst.at[1] > 0 || worst.R[1] > 0, model, p, 'has no effect');
}

// the ghosts themselves: frames H exp(delta w) to first order, on both sides
async function ghosts(page, model) {
  const far = await page.evaluate(() => window.mbgrad.then(v => {
    const s = v.sensitivity, delta = s.most / 50;
    s.setDelta(delta);
    v.draw();
    let worst = 0, size = 0;
    v.scene.bodies.forEach((_, b) => {
      const w = s.pair[0].motion.tangent(b, []), m = v.motion.matrices, a = s.pair[0].motion.matrices, c = s.pair[1].motion.matrices, at = 16 * b;
      for (let i = 0; i < 3; i++) {
        const g = delta * (m[at + i] * w[0] + m[at + 4 + i] * w[1] + m[at + 8 + i] * w[2]);
        worst = Math.max(worst, Math.abs((a[at + 12 + i] - c[at + 12 + i]) / 2 - g));
        size = Math.max(size, Math.abs(a[at + 12 + i]));
      }
    });
    return worst / size;
  }));
  check(far < 1e-6, model, 'ghosts are off by', far);
}

async function panel(page, model) {
  const state = () => page.evaluate(() => window.mbgrad.then(v => ({
    chosen: v.sensitivity.chosen, marked: v.sensitivity.markedOwner, show: {...v.sensitivity.show},
    colours: v.mechanism.parts.meshes.flatMap(m => m.items.map(i => (i.shown ?? i.color).getHexString())).join(),
    ghosts: v.sensitivity.pair.map(m => m.group.visible),
  })));
  await page.click('#info');
  const before = await state();
  await page.selectOption('#ghost', '0');
  let s = await state();
  check(s.chosen === 0 && s.ghosts.join() === 'true,true', model, 'a parameter is chosen');
  check(/±/.test(await page.textContent('#delta-text')), model, 'text of the change');
  await page.click('#show-ghosts');
  check((await state()).ghosts.join() === 'false,false', model, 'ghosts go');
  await page.click('#show-colours');
  s = await state();
  check(s.show.colours && s.colours !== before.colours, model, 'colours by effect');
  await page.click('#show-colours');
  check((await state()).colours === before.colours, model, 'colours go');
  await page.locator('#ranking .click').first().click();
  s = await state();
  check(s.marked && s.colours !== before.colours, model, 'a number marks its element');
  await page.locator('#ranking .click').first().click();
  check((await state()).colours === before.colours, model, 'the mark goes');
  await page.locator('#bars .click').first().click();
  s = await state();
  check(s.chosen >= -1, model, 'a bar chooses a parameter');
  await page.selectOption('#ghost', '-1');
  check((await state()).chosen === -1, model, 'no parameter');
}

async function others(model, p, factor) {
  const file = join('others.html'), csv = join('others.csv');
  run('view', model, '--out', file, '--with', `${p}=${factor}`, '--quiet');
  run('simulate', model, '--set', `${p}=${factor}`, '--poses', csv, '--quiet');
  const page = await openPage(browser, file, model), right = poses(csv);
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    v.seek(v.motion.t1);
    v.draw();
    const o = v.others.list[0];
    return {name: o.name, t: o.motion.t1, size: v.scene.size, at: v.scene.bodies.map((name, b) => ({name, x: [...o.motion.matrices.slice(16 * b + 12, 16 * b + 15)]}))};
  }));
  check(got.name === `${p}=${factor}`, model, 'name of the other run');
  for (const {name, x} of got.at) {
    const off = Math.hypot(...x.map((v, i) => v - bodyAt(right, got.t, name).at[i]));
    check(off <= 1e-6 * got.size, model, 'other run:', name, 'is off by', off);
  }
  await page.locator('#legend .click').click();
  check(await page.evaluate(() => window.mbgrad.then(v => !v.others.list[0].mechanism.group.visible)), model, 'the legend hides a run');
  await page.close();
}

// where the model asks for free steps: fixed ones, so that other parameters give the same times
function fixedSteps(model) {
  const {run: r = {}} = JSON.parse(readFileSync(`${process.env.SRC}/gallery/${model}/model.json`, 'utf8'));
  if (r.step && !/qr|dca/.test(r.formulation)) return [];
  const end = +r.end || JSON.parse(execFileSync(process.env.MBGRAD, ['simulate', model, '--json'], {cwd: folder, maxBuffer: 1e9})).time.at(-1);
  return ['--formulation', 'lie', '--step', String(r.step ?? end / 1000)];
}

const SLOW = ['slider-crank-topology']; // a design of 2003 bodies and as many parameters
const gallery = () => readdirSync(`${process.env.SRC}/gallery`).filter(m => existsSync(`${process.env.SRC}/gallery/${m}/model.json`))
  .filter(m => JSON.parse(readFileSync(`${process.env.SRC}/gallery/${m}/model.json`, 'utf8')).parameters && !SLOW.includes(m));

try {
  const words = process.argv.slice(2), all = words[0] === 'all';
  for (const word of all ? gallery() : words) {
    const [model, given, step] = word.split(':'), file = join('page.html'), times = step ? ['--formulation', 'lie', '--step', step] : given ? [] : fixedSteps(model);
    run('view', model, '--out', file, '--gradient', '--quiet', ...(given ? ['--parameters', given] : []), ...times);
    const page = await openPage(browser, file, model);
    const p = given ?? await page.evaluate(() => window.mbgrad.then(v => v.scene.parameters[v.sensitivity.ghosts[0]?.parameter]?.name));
    if (p) {
      await derivative(page, model, p, times, Boolean(given)); // what moves a criterion need not move bodies
      await ghosts(page, model);
      if (given) await panel(page, model);
    }
    await page.close();
    console.log(model, p ?? 'has no ghosts');
  }
  if (words.some(w => w.includes(':'))) await others('five-bar', 'k1', 60);
} finally {
  await close();
}
process.exit(failures() ? 1 : 0);
