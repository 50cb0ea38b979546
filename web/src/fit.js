// The camera from which points of a motion just fill the picture.
import {Vector3} from 'three';

// half lengths of the box around a shape, in its own axes
function halves({kind, size}) {
  if (kind === 'box') return size.map(v => v / 2);
  if (kind === 'sphere') return [size[0], size[0], size[0]];
  return [size[0], size[0], size[1] / 2 + (kind === 'capsule' ? size[0] : 0)];
}

// the corners of the box around a shape, as points of its body
export function corners(shape, meshes) {
  const {frame, size} = shape, mesh = shape.kind === 'mesh' && meshes[shape.mesh];
  const half = mesh ? size.map((v, i) => Math.abs(v * 32767.5 * mesh.step[i])) : halves(shape);
  const middle = mesh ? size.map((v, i) => v * (mesh.low[i] + 32767.5 * mesh.step[i])) : [0, 0, 0];
  return Array.from({length: 8}, (_, k) => {
    const c = middle.map((m, i) => m + (k >> i & 1 ? half[i] : -half[i])), at = [...frame];
    for (let i = 0; i < 3; i++) at[9 + i] += frame[3 * i] * c[0] + frame[3 * i + 1] * c[1] + frame[3 * i + 2] * c[2];
    return {body: shape.body, frame: at};
  });
}

// Looks along -from at points (x, y, z, ...) with room `pad` around each; a and b: tangents of half the free width and
// height. In axes right, up, from a camera at (x, y, z) sees a point p if |p_x - x| <= a (z - p_z), so that
// 2 a z >= max(p_x + a p_z) + max(a p_z - p_x); x is the middle of what these leave. The target lies before the camera,
// as far away as the centre of the room.
export function fit(points, from, upward, center, a, b, pad) {
  const right = new Vector3().crossVectors(upward, from).normalize(), up = new Vector3().crossVectors(from, right);
  const far = [-Infinity, -Infinity, -Infinity, -Infinity], p = new Vector3();
  for (let i = 0; i < points.length; i += 3) {
    p.set(points[i], points[i + 1], points[i + 2]).sub(center);
    const x = right.dot(p), y = up.dot(p), z = from.dot(p);
    far[0] = Math.max(far[0], x + a * z);
    far[1] = Math.max(far[1], a * z - x);
    far[2] = Math.max(far[2], y + b * z);
    far[3] = Math.max(far[3], b * z - y);
  }
  if (!points.length) far.fill(1);
  const away = Math.max((far[0] + far[1]) / (2 * a), (far[2] + far[3]) / (2 * b)) + pad * Math.max(Math.hypot(1, a) / a, Math.hypot(1, b) / b);
  const target = center.clone().addScaledVector(right, (far[0] - far[1]) / 2).addScaledVector(up, (far[2] - far[3]) / 2);
  return {away, target};
}
