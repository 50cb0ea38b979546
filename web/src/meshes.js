// Meshes of files as geometries.
import {BufferAttribute, BufferGeometry} from 'three';

// Normals of a corner: of the faces around its vertex that turn away by less than 40 degrees, weighted by their area.
const smooth = Math.cos(40 * Math.PI / 180);

function faceNormals(p, corners) {
  const out = new Float32Array(corners.length), n = corners.length / 3;
  for (let f = 0; f < n; f++) {
    const [a, b, c] = [0, 1, 2].map(k => 3 * corners[3 * f + k]);
    const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
    out.set([uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx], 3 * f);
  }
  return out;
}

// faces of each vertex: list[start[v]] ... list[start[v + 1] - 1]
function facesOf(nv, corners) {
  const start = new Uint32Array(nv + 1), list = new Uint32Array(corners.length);
  for (const v of corners) start[v + 1]++;
  for (let v = 0; v < nv; v++) start[v + 1] += start[v];
  const next = start.slice();
  corners.forEach((v, i) => { list[next[v]++] = i / 3 | 0; });
  return {start, list};
}

// scale: factors of x, y, z; a mirror turns the triangles round
export function meshGeometry(mesh, scale) {
  const p = mesh.points.map((x, i) => x * scale[i % 3]), mirrored = scale[0] * scale[1] * scale[2] < 0;
  const corners = mirrored ? mesh.corners.map((_, i) => mesh.corners[i - i % 3 + [0, 2, 1][i % 3]]) : mesh.corners;
  const normals = faceNormals(p, corners), {start, list} = facesOf(mesh.vertices, corners);
  const at = new Float32Array(3 * corners.length), out = new Float32Array(3 * corners.length);
  corners.forEach((v, i) => {
    const f = 3 * (i / 3 | 0), nx = normals[f], ny = normals[f + 1], nz = normals[f + 2], size = Math.hypot(nx, ny, nz);
    let x = 0, y = 0, z = 0;
    for (let k = start[v]; k < start[v + 1]; k++) {
      const g = 3 * list[k], gx = normals[g], gy = normals[g + 1], gz = normals[g + 2];
      if (nx * gx + ny * gy + nz * gz >= smooth * size * Math.hypot(gx, gy, gz)) x += gx, y += gy, z += gz;
    }
    const length = Math.hypot(x, y, z) || 1;
    at.set([p[3 * v], p[3 * v + 1], p[3 * v + 2]], 3 * i);
    out.set([x / length, y / length, z / length], 3 * i);
  });
  return new BufferGeometry().setAttribute('position', new BufferAttribute(at, 3)).setAttribute('normal', new BufferAttribute(out, 3));
}
