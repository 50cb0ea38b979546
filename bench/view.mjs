// How fast a page of `mbgrad view` loads and moves: node bench/view.mjs PROGRAM [BODIES] [FRAMES]
//
// A chain of many bodies in Debian's chromium with its software renderer: seconds to load, pictures each second, bytes for
// each number of a pose. On a busy machine the seconds say little: the processor time of all processes of the browser for
// a picture is printed, too. Needs the packages of web/ (npm ci --prefix web).
import {execFileSync} from 'node:child_process';
import {mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

const [program, bodies = 1000, frames = 1000] = process.argv.slice(2).map((v, i) => (i ? +v : v));
const web = join(dirname(dirname(fileURLToPath(import.meta.url))), 'web', 'package.json'), folder = mkdtempSync(join(tmpdir(), 'mbgrad-bench-'));
const {chromium} = createRequire(web)('playwright-core');

// pendulums of three rods beside each other
const model = {mbgrad: 1, name: 'many', gravity: [0, 0, -9.81], bodies: {}, joints: {}, run: {end: 2, step: 2 / frames}};
for (let i = 0; i < bodies; i++) {
  const x = 0.2 * (i / 3 | 0) % 6.4, y = 0.2 * Math.floor((i / 3 | 0) / 32), z = -0.3 * (i % 3);
  model.bodies['b' + i] = {mass: 1, inertia: [0.01, 0.01, 0.001], position: [x, y, z - 0.15]};
  model.joints['j' + i] = {type: 'revolute', between: [i % 3 ? 'b' + (i - 1) : 'ground', 'b' + i], at: [x, y, z], axis: [Math.cos(i), Math.sin(i), 0]};
}
model.forces = Object.fromEntries(Array.from({length: Math.ceil(bodies / 3)}, (_, i) => ['f' + i, {type: 'force', on: 'b' + 3 * i, force: [3, i % 7 - 3, 0]}]));

// processor time, in ms, of all processes below this one
function processorTime() {
  const all = readdirSync('/proc').filter(name => /^\d+$/.test(name)).flatMap(pid => {
    try { // name in brackets, state, parent, ... user and system time in hundredths of a second
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ');
      return [{pid: +pid, parent: +fields[1], ms: 10 * (+fields[11] + +fields[12])}];
    } catch { return []; } // has ended
  });
  const below = pid => all.filter(p => p.parent === pid).reduce((sum, p) => sum + p.ms + below(p.pid), 0);
  return below(process.pid);
}

const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader']});
try {
  const file = join(folder, 'many.html');
  writeFileSync(join(folder, 'many.json'), JSON.stringify(model));
  execFileSync(program, ['view', join(folder, 'many.json'), '--formulation', 'dca', '--step', String(2 / frames), '--interval', String(2 / frames), '--frames', String(frames), '--quiet', '--out', file], {stdio: 'inherit'});
  const page = await browser.newPage({viewport: {width: 900, height: 640}}), start = Date.now(), atStart = processorTime();
  await page.goto('file://' + file);
  await page.evaluate(() => window.mbgrad.then(() => 1));
  const load = (Date.now() - start) / 1000, loaded = processorTime();
  const rate = await page.evaluate(() => window.mbgrad.then(v => {
    const n = 100, gl = v.renderer.getContext(), pixel = new Uint8Array(4), begin = performance.now();
    for (let i = 0; i < n; i++) {
      v.seek(v.motion.t0 + i / n * (v.motion.t1 - v.motion.t0));
      v.draw();
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); // waits for the picture
    }
    return {n, frames: v.motion.n, rate: 1000 * n / (performance.now() - begin)};
  }));
  const work = processorTime() - loaded;
  const size = statSync(file).size;
  console.log(`${bodies} bodies, ${rate.frames} frames: page ${(size / 1e6).toFixed(1)} MB, ${(size / (7 * bodies * rate.frames)).toFixed(2)} bytes a number`);
  console.log(`loaded in ${load.toFixed(2)} s, ${rate.rate.toFixed(1)} pictures each second`);
  console.log(`processor time: ${((loaded - atStart) / 1000).toFixed(2)} s to load, ${(work / rate.n).toFixed(1)} ms a picture`);
} finally {
  await browser.close();
  rmSync(folder, {recursive: true});
}
