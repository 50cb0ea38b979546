// Curves, cams and faces of followers: tubes and plates in the axes of a marker; lines of surfaces (src/view/outline.h).
import {BufferAttribute, BufferGeometry, LineBasicMaterial, LineSegments, Vector3} from 'three';
import {roundSection, Tube} from './parts.js';

const pointsOf = list => Array.from({length: list.length / 3}, (_, i) => list.slice(3 * i, 3 * i + 3));

// axes of the section follow the line without twist
export function tubeGeometry({points, closed, thick}) {
  const list = pointsOf(points), n = list.length, count = n + closed, tube = new Tube(count, roundSection(8), null, !closed);
  const at = i => new Vector3(...list[closed ? (i + n) % n : Math.min(n - 1, Math.max(0, i))]), y = new Vector3(), z = new Vector3();
  for (let i = 0; i < count; i++) {
    const t = at(i + 1).sub(at(i - 1)).normalize();
    if (i === 0) y.set(Math.abs(t.z) < 0.9 ? 0 : 1, 0, Math.abs(t.z) < 0.9 ? 1 : 0);
    y.projectOnPlane(t).normalize();
    z.crossVectors(t, y);
    tube.station(i, at(i).toArray(), t.toArray(), y.toArray(), z.toArray(), 2 * thick, 2 * thick);
  }
  return tube.geometry;
}

// a polygon, counterclockwise, from z = -thick to thick; its sides are smooth but for corners
export function plateGeometry({points, corners, thick}) {
  const list = pointsOf(points), n = list.length, P = [], N = [], index = [];
  for (const z of [-1, 1]) {
    const first = P.length / 3;
    for (const [x, y] of list) { P.push(x, y, z * thick); N.push(0, 0, z); }
    for (let i = 0; i < corners.length; i += 3) index.push(first + corners[i], first + corners[i + (z < 0 ? 2 : 1)], first + corners[i + (z < 0 ? 1 : 2)]);
  }
  const normal = i => {
    const [a, b] = [list[(i + n) % n], list[(i + 1) % n]], length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    return [(b[1] - a[1]) / length, (a[0] - b[0]) / length];
  };
  list.forEach((_, i) => {
    const first = P.length / 3;
    for (const k of [i, i + 1]) {
      const [a, b] = [normal(k - 1), normal(k % n)], smooth = a[0] * b[0] + a[1] * b[1] > 0.8, [x, y] = list[k % n];
      const m = smooth ? [a[0] + b[0], a[1] + b[1]] : normal(i), length = Math.hypot(...m);
      for (const z of [-1, 1]) { P.push(x, y, z * thick); N.push(m[0] / length, m[1] / length, 0); }
    }
    index.push(first, first + 2, first + 1, first + 2, first + 3, first + 1);
  });
  const attribute = v => new BufferAttribute(new Float32Array(v), 3);
  return new BufferGeometry().setAttribute('position', attribute(P)).setAttribute('normal', attribute(N)).setIndex(index);
}

// a thin line around the upper face of a plate
export function rimGeometry({points, thick}) {
  return tubeGeometry({points: points.map((v, i) => (i % 3 === 2 ? thick : v)), closed: true, thick: 0.25 * thick});
}

// thin lines that hide nothing
export function gridLines({points, lines}, color) {
  const index = [];
  let first = 0;
  for (const count of lines) {
    for (let i = 0; i + 1 < count; i++) index.push(first + i, first + i + 1);
    first += count;
  }
  const geometry = new BufferGeometry().setAttribute('position', new BufferAttribute(new Float32Array(points), 3)).setIndex(index);
  const o = new LineSegments(geometry, new LineBasicMaterial({color, transparent: true, opacity: 0.5, depthWrite: false}));
  o.matrixAutoUpdate = o.frustumCulled = false;
  o.raycast = () => {};
  return o;
}

// corners of the box around an outline, as points of its marker
export function outlineCorners({points}, marker) {
  const low = [Infinity, Infinity, Infinity], high = low.map(v => -v), {frame: f} = marker;
  points.forEach((v, i) => { low[i % 3] = Math.min(low[i % 3], v); high[i % 3] = Math.max(high[i % 3], v); });
  return Array.from({length: 8}, (_, k) => {
    const c = low.map((v, i) => (k >> i & 1 ? high[i] : v)), at = [...f];
    for (let i = 0; i < 3; i++) at[9 + i] += f[3 * i] * c[0] + f[3 * i + 1] * c[1] + f[3 * i + 2] * c[2];
    return {...marker, frame: at};
  });
}
