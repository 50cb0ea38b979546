// Pages of many bodies: node tests/web/many.mjs
//
// Parts of one shape are one mesh (web/src/merged.js): few draw calls; every part stands where its body is, in its own
// colour, and in the picture looks as an instance does; marks change colours; a double click finds a body. Rods and joints
// are as thin as the bodies are small.
import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {check, failures, needBrowser, openPage, program} from './support.mjs';

const {browser, folder, close} = await needBrowser();
const n = 350, model = {mbgrad: 1, name: 'many', gravity: [0, 0, -9.81], bodies: {}, joints: {}, run: {end: 0.4, step: 0.02}};
for (let i = 0; i < n; i++) {
  const x = 0.2 * (i / 2 | 0) % 4, y = 0.2 * Math.floor((i / 2 | 0) / 20), z = -0.3 * (i % 2);
  model.bodies['b' + i] = {mass: 1, inertia: [0.01, 0.01, 0.001], position: [x, y, z - 0.15]};
  model.joints['j' + i] = {type: 'revolute', between: [i % 2 ? 'b' + (i - 1) : 'ground', 'b' + i], at: [x, y, z], axis: [Math.cos(i), Math.sin(i), 0]};
}
model.forces = {push: {type: 'force', on: 'b0', force: [3, 1, 0]}};

try {
  const file = join(folder, 'many.html');
  writeFileSync(join(folder, 'many.json'), JSON.stringify(model));
  program(folder, 'view', 'many.json', '--formulation', 'dca', '--interval', '0.02', '--quiet', '--out', file);
  const page = await openPage(browser, file, 'many');
  const got = await page.evaluate(() => window.mbgrad.then(v => {
    v.seek(0.2);
    v.draw();
    const calls = v.renderer.info.render.calls, all = v.mechanism.parts.meshes;
    let off = 0, faded = 0;
    for (const mesh of all) mesh.items.forEach((item, i) => {
      const at = 16 * i, got = mesh.merged.numbers, want = mesh.instanceMatrix.array;
      for (let k = 0; k < 16; k++) if (k % 4 < 3) off = Math.max(off, Math.abs(got[at + k] - want[at + k]));
      faded = Math.max(faded, ...item.color.toArray().map((c, k) => Math.abs(c - got[at + 4 * k + 3])));
    });
    // the same picture by instances, whose light falls on pixels
    const picture = () => {
      v.renderer.render(v.world, v.camera);
      const c = document.createElement('canvas'), g = c.getContext('2d');
      c.width = v.renderer.domElement.width;
      c.height = v.renderer.domElement.height;
      g.drawImage(v.renderer.domElement, 0, 0);
      return g.getImageData(0, 0, c.width, c.height).data;
    };
    const one = picture();
    const empty = new Set(new Uint32Array(one.buffer)).size;
    for (const mesh of all) mesh.visible = !(mesh.merged.mesh.visible = false);
    const two = picture();
    for (const mesh of all) mesh.visible = !(mesh.merged.mesh.visible = true);
    let differ = 0, drawn = 0;
    for (let i = 0; i < one.length; i += 4) {
      const d = Math.max(...[0, 1, 2].map(k => Math.abs(one[i + k] - two[i + k])));
      drawn += two[i] < 150;
      differ += d > 40;
    }
    v.sensitivity.mark("body 'b7'");
    const marked = all.flatMap(m => m.items.map((item, i) => [item, [3, 7, 11].map(k => m.merged.numbers[16 * i + k])])).filter(([, c]) => c[0] > 0.9 && c[2] < 0.05).map(([item]) => item.owner);
    v.sensitivity.mark("body 'b7'");
    return {calls, off, faded, empty, differ, drawn, marked, count: v.mechanism.parts.meshes.reduce((s, m) => s + m.count, 0), size: v.scene.size, part: v.scene.part};
  }));
  check(got.calls <= 6 && got.count > 800, 'calls', got.calls, 'of', got.count, 'parts');
  check(got.off === 0 && got.faded < 1e-6, 'frames and colours', got.off, got.faded);
  check(got.empty > 50, 'the picture is empty:', got.empty);
  check(got.drawn > 5000 && got.differ < 0.02 * got.drawn, 'picture of instances:', got.differ, 'of', got.drawn, 'pixels differ');
  check(got.marked.length > 0 && got.marked.every(o => o === 'b7'), 'mark', got.marked.join());
  check(got.part > 1 && got.part < 2 && got.size > 4, 'size of a part', got.part, 'of', got.size);
  // a double click into the middle of the nearest body
  const [nearest, ...at] = await page.evaluate(() => window.mbgrad.then(v => {
    const far = v.scene.bodies.map((_, b) => v.bodyAt(b).distanceTo(v.camera.position)), b = far.indexOf(Math.min(...far));
    const p = v.bodyAt(b).project(v.camera), box = v.renderer.domElement.getBoundingClientRect();
    return [b, box.left + (p.x + 1) / 2 * box.width, box.top + (1 - p.y) / 2 * box.height];
  }));
  await page.mouse.dblclick(...at);
  const followed = await page.evaluate(() => window.mbgrad.then(v => v.followed));
  check(followed === nearest, 'double click follows', followed, 'not', nearest);
  await page.close();
} finally {
  await close();
}
process.exit(failures() ? 1 : 0);
