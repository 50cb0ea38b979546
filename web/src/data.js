// The data of the page: a scene (JSON) and the motion (src/view/motion.h says how it is stored), meshes (src/view/figures.h).

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

export function bytesOf(base64) {
  const text = atob(base64), bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  return bytes;
}

// one channel: the order of its differences, planes of bytes -> differences -> values
function channel(bytes, start, n, offset, scale, out, first, stride) {
  const order = bytes[start], at = start + 1, sums = new Int32Array(order);
  for (let i = 0; i < n; i++) {
    const z = bytes[at + i] | bytes[at + n + i] << 8 | bytes[at + 2 * n + i] << 16 | bytes[at + 3 * n + i] << 24;
    let x = z >>> 1 ^ -(z & 1);
    for (let k = order - 1; k >= 0; k--) x = sums[k] += x;
    out[first + i * stride] = offset + scale * x;
  }
  return at + 4 * n;
}

// A channel of which every k-th number is kept, and the last one: polynomials in time through six of them give the rest
// (src/view/motion.h).
function sparse(bytes, start, n, k, time, offset, scale, out, first, stride) {
  if (k === 1) return channel(bytes, start, n, offset, 2 * scale, out, first, stride);
  const y = new Float64Array(Math.ceil((n - 1) / k) + 1), t = y.map((_, i) => time[Math.min(i * k, n - 1)]);
  const end = channel(bytes, start, y.length, offset, scale, y, 0, 1);
  for (let f = 0; f < n; f++) {
    const from = Math.max(0, Math.min(y.length - 6, Math.floor(f / k) - 2));
    let sum = 0;
    for (let i = from; i < from + 6; i++) {
      let weight = 1;
      for (let j = from; j < from + 6; j++) if (j !== i) weight *= (time[f] - t[j]) / (t[i] - t[j]);
      sum += weight * y[i];
    }
    out[first + f * stride] = sum;
  }
  return end;
}

// numbers in planes of bytes, lowest first
function planes(bytes, at, n, count) {
  const out = new Uint32Array(n);
  for (let k = 0; k < count; k++) for (let i = 0; i < n; i++) out[i] |= bytes[at + k * n + i] << (8 * k);
  return out;
}

// vertices and corners of a mesh; returns the place behind it
function readMesh(mesh, bytes, at) {
  const n = mesh.vertices, m = 3 * mesh.triangles;
  mesh.points = new Float32Array(3 * n);
  mesh.corners = new Uint32Array(m);
  for (let k = 0; k < 3; k++, at += 2 * n) {
    const d = planes(bytes, at, n, 2);
    for (let i = 0, x = 0; i < n; i++) {
      x = x + d[i] & 65535;
      mesh.points[3 * i + k] = mesh.low[k] + mesh.step[k] * x;
    }
  }
  const d = planes(bytes, at, m, 4);
  for (let i = 0, x = 0; i < m; i++) {
    x += d[i] >>> 1 ^ -(d[i] & 1);
    mesh.corners[i] = x;
  }
  return at + 4 * m;
}

// the bytes of one run: motion and meshes
function readRun(scene, bytes, start) {
  const m = scene.motion, n = m.frames, nb = scene.bodies.length;
  let at = start;
  const take = (offset, scale, out, first, stride) => { at = channel(bytes, at, n, offset, scale, out, first, stride); };
  const time = new Float64Array(n), poses = new Float32Array(7 * nb * n);
  take(m.time[0], m.time[1], time, 0, 1);
  for (let b = 0; b < nb; b++) {
    for (let k = 0; k < 7; k++) take(0, k < 3 ? m.position : m.rotation, poses, 7 * b + k, 7 * nb);
  }
  const nm = m.modal.length / 2, modal = new Float32Array(nm * n);
  for (let j = 0; j < nm; j++) take(m.modal[2 * j], m.modal[2 * j + 1], modal, j, nm);
  const signals = m.names.map((name, k) => {
    const values = new Float64Array(n);
    at = sparse(bytes, at, n, m.signals[3 * k + 2], time, m.signals[3 * k], m.signals[3 * k + 1], values, 0, 1);
    return {name, values};
  });
  for (const mesh of scene.meshes) at = readMesh(mesh, bytes, at);
  for (const s of scene.surfaces) if (s.height) s.heights = Array.from({length: s.edges.length / 6}, () => {
    const h = new Float32Array(n);
    take(0, s.height, h, 0, 1);
    return h;
  });
  return {run: {scene, n, nb, nm, time, poses, modal, signals}, at};
}

// forces, moments and strains: per element the channels that are not 0 all the time (src/view/loads.h)
function readLoads(l, bytes, start, {n}) {
  let at = start;
  const take = (mask, scales) => scales.map((scale, k) => {
    if (!(mask >> k & 1)) return null;
    const out = new Float32Array(n);
    at = channel(bytes, at, n, 0, scale, out, 0, 1);
    return out;
  });
  const wrench = [l.force, l.force, l.force, l.moment, l.moment, l.moment];
  const joints = [], forces = [];
  for (let k = 0; k < l.joints.length; k += 2) joints.push({channels: take(l.joints[k], wrench), open: l.joints[k + 1]});
  l.forces.forEach((mask, k) => forces.push({channels: take(mask, l.scene.forces[k].along ? [/^(distance|x|y|z)$/.test(l.scene.forces[k].along) ? l.force : l.moment] : wrench)}));
  const elements = l.elements.map(mask => ({channels: take(mask, [l.strain, l.curvature, l.curvature])}));
  return {loads: {joints, forces, elements, weights: l.weights}, at};
}

// derivatives of the motion by a parameter: 6 numbers per body, then modal coordinates
function readGhost(g, bytes, start, {n, nb, nm, time}) {
  const poses = new Float32Array(6 * nb * n), modal = new Float32Array(nm * n);
  let at = start;
  g.every.forEach((k, row) => {
    const inBody = row < 6 * nb, scale = inBody ? (row % 6 < 3 ? g.position : g.rotation) : g.modal, out = inBody ? poses : modal;
    const first = inBody ? row : row - 6 * nb, stride = inBody ? 6 * nb : nm;
    at = sparse(bytes, at, n, k, time, 0, scale, out, first, stride);
  });
  return {ghost: {parameter: g.parameter, poses, modal}, at};
}

export async function readData(base64) {
  const bytes = await inflate(bytesOf(base64));
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const scene = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const first = readRun(scene, bytes, 4 + length), data = first.run;
  let {at} = first;
  if (scene.loads) ({loads: data.loads, at} = readLoads({...scene.loads, scene}, bytes, at, data));
  data.ghosts = (scene.ghosts ?? []).map(g => { const o = readGhost(g, bytes, at, data); at = o.at; return o.ghost; });
  data.others = (scene.others ?? []).map(s => { const o = readRun(s, bytes, at); at = o.at; return o.run; });
  return data;
}

// The motion at any time: poses between two frames on straight lines and shortest turns.
export class Motion {
  constructor(data) {
    Object.assign(this, data);
    this.data = data;
    this.matrices = new Float32Array(16 * this.nb); // columns, as three.js stores them
    this.eta = new Float32Array(Math.max(1, this.nm));
    this.t0 = this.time[0];
    this.t1 = this.time[this.n - 1];
  }

  // index of the last frame at or before t
  frame(t) {
    let low = 0, high = this.n - 1;
    while (low < high) {
      const mid = (low + high + 1) >> 1;
      if (this.time[mid] <= t) low = mid; else high = mid - 1;
    }
    return low;
  }

  set(t) {
    const i = this.frame(t), j = Math.min(i + 1, this.n - 1), {time, poses, nb, nm, modal, eta} = this;
    const f = j > i ? Math.min(1, Math.max(0, (t - time[i]) / (time[j] - time[i]))) : 0;
    this.at = {i, j, f};
    for (let b = 0; b < nb; b++) this.pose(7 * (i * nb + b), 7 * (j * nb + b), f, poses, 16 * b);
    for (let k = 0; k < nm; k++) eta[k] = modal[i * nm + k] + f * (modal[j * nm + k] - modal[i * nm + k]);
  }

  pose(a, b, f, p, at) {
    const m = this.matrices;
    let dot = 0, length = 0;
    for (let k = 3; k < 7; k++) dot += p[a + k] * p[b + k];
    const s = dot < 0 ? -f : f, q = this.q ??= new Float64Array(4);
    for (let k = 0; k < 4; k++) {
      q[k] = (1 - f) * p[a + 3 + k] + s * p[b + 3 + k];
      length += q[k] * q[k];
    }
    const c = 2 / length, [x, y, z, w] = q;
    m[at] = 1 - c * (y * y + z * z); m[at + 1] = c * (x * y + z * w); m[at + 2] = c * (x * z - y * w); m[at + 3] = 0;
    m[at + 4] = c * (x * y - z * w); m[at + 5] = 1 - c * (x * x + z * z); m[at + 6] = c * (y * z + x * w); m[at + 7] = 0;
    m[at + 8] = c * (x * z + y * w); m[at + 9] = c * (y * z - x * w); m[at + 10] = 1 - c * (x * x + y * y); m[at + 11] = 0;
    for (let k = 0; k < 3; k++) m[at + 12 + k] = (1 - f) * p[a + k] + f * p[b + k];
    m[at + 15] = 1;
  }
}
