// Files of `mbgrad view --glb` in the validator of Khronos: node tests/web/glb.mjs MODEL ... (all: the gallery)
//
// Each has neither errors nor warnings nor hints, and the poses of its animation are those of the simulation.
// MBGRAD: the program; SRC: the source tree. Status 77 without the packages of web/ (npm ci --prefix web).
import {execFileSync} from 'node:child_process';
import {existsSync, mkdtempSync, readdirSync, readFileSync, rmSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tmpdir} from 'node:os';
import {join} from 'node:path';

const {MBGRAD, SRC} = process.env;
if (!existsSync(join(SRC, 'web/node_modules/gltf-validator'))) {
  console.log('skipped: the packages of web/ are missing (scripts/bootstrap all)');
  process.exit(77);
}
const validator = createRequire(join(SRC, 'web/package.json'))('gltf-validator');

let models = process.argv.slice(2), failures = 0;
if (models[0] === 'all') models = readdirSync(join(SRC, 'gallery')).filter(m => existsSync(join(SRC, 'gallery', m, 'model.json')));
const check = (ok, ...what) => { if (!ok) { failures++; console.log('FAILED:', ...what); } };

function read(bytes) {
  const length = bytes.readUInt32LE(12), json = JSON.parse(bytes.subarray(20, 20 + length).toString());
  const block = bytes.subarray(28 + length);
  const floats = k => {
    const a = json.accessors[k], at = json.bufferViews[a.bufferView].byteOffset, width = {SCALAR: 1, VEC3: 3, VEC4: 4}[a.type];
    return Array.from({length: a.count * width}, (_, i) => block.readFloatLE(at + 4 * i));
  };
  return {json, floats};
}

// translations of all bodies at all pictures, and modal coordinates
function compare(model, {json, floats}, csv) {
  const [head, ...rows] = readFileSync(csv, 'utf8').trim().split('\n').map(line => line.split(','));
  const {channels, samplers} = json.animations[0], times = floats(samplers[0].input);
  const near = times.map(t => rows.findIndex(r => Math.abs(r[0] - rows[0][0] - t) <= 1e-6 * times.at(-1)));
  check(near.every(i => i >= 0), model, 'times');
  let worst = 0, size = 0;
  for (const c of channels) {
    const out = floats(samplers[c.sampler].output), n = out.length / times.length;
    const name = c.target.path === 'translation' ? '.x' : c.target.path === 'rotation' ? '.qw' : '.eta1';
    const first = head.indexOf(json.nodes[c.target.node].name + name);
    check(first >= 0, model, 'column of', json.nodes[c.target.node].name, name);
    near.forEach((row, i) => {
      const want = rows[row].slice(first, first + n).map(Number), got = out.slice(n * i, n * i + n);
      if (name === '.qw') { // (x, y, z, w), of either sign
        const [w, x, y, z] = want, dot = x * got[0] + y * got[1] + z * got[2] + w * got[3];
        worst = Math.max(worst, 1 - Math.abs(dot));
        return;
      }
      size = Math.max(size, ...want.map(Math.abs));
      want.forEach((v, k) => { worst = Math.max(worst, Math.abs(v - got[k]) / Math.max(1, Math.abs(v))); });
    });
  }
  check(worst < 1e-6, model, 'poses are off by', worst);
}

const folder = mkdtempSync(join(tmpdir(), 'mbgrad-glb-'));
try {
  for (const model of models) {
    const file = join(folder, 'motion.glb'), csv = join(folder, 'poses.csv');
    execFileSync(MBGRAD, ['view', model, '--glb', file, '--quiet'], {stdio: ['ignore', 'inherit', 'ignore'], cwd: model.includes('/') ? SRC : folder});
    execFileSync(MBGRAD, ['simulate', model, '--poses', csv, '--quiet'], {stdio: ['ignore', 'inherit', 'ignore'], cwd: model.includes('/') ? SRC : folder});
    const bytes = readFileSync(file), report = await validator.validateBytes(new Uint8Array(bytes), {maxIssues: 20});
    for (const m of report.issues.messages) check(false, model, m.code, m.message, m.pointer);
    compare(model, read(bytes), csv);
    console.log(model, bytes.length, 'bytes');
  }
} finally {
  rmSync(folder, {recursive: true});
}
process.exit(failures ? 1 : 0);
