// Tendons: tubes over markers and around pulleys, whose sheaves are shapes of the scene (src/view/rope.h).
import {Vector3} from 'three';
import {roundSection, Tube} from './parts.js';
import {markerMatrix} from './surfaces.js';

const ARC = 24; // pieces of the line on a pulley

// the direction of the straight part between two places, in the plane square to z; false: there is none
function direction(a, b, z, out) {
  out.copy(b.at).sub(a.at).projectOnPlane(z);
  const far = out.length(), rho = a.left - b.left;
  if (!(far > Math.abs(rho))) return false;
  out.divideScalar(far).applyAxisAngle(z, Math.asin(rho / far));
  return true;
}

export class Rope {
  // thick: radius of the rope
  constructor(rope, motion, thick, material) {
    Object.assign(this, {rope, motion, thick});
    this.places = rope.places.map(p => ({...p, at: new Vector3(), x: new Vector3(), y: new Vector3(), z: new Vector3()}));
    const count = this.places.reduce((n, p) => n + (p.left ? ARC + 1 : 1), 0);
    this.line = Array.from({length: count}, () => new Vector3());
    this.normals = this.line.map(() => new Vector3()); // axles of pulleys, which the axes of the section follow
    this.tube = new Tube(count, roundSection(8), material);
    this.mesh = this.tube.mesh;
    this.mesh.userData.owner = rope.name;
  }

  // what tension 1 does to a place: the sum of the directions away from it
  pull(k, out) {
    const first = this.places.slice(0, k).reduce((n, p) => n + (p.left ? ARC + 1 : 1), 0), last = first + (this.places[k].left ? ARC : 0);
    out.set(0, 0, 0);
    for (const [a, b] of [[first, first - 1], [last, last + 1]]) {
      if (this.line[b]) out.add(new Vector3().copy(this.line[b]).sub(this.line[a]).normalize());
    }
    return out;
  }

  // points of the line at the motion's time
  trace() {
    const u = new Vector3(), away = new Vector3(), n = new Vector3();
    let i = 0;
    for (const p of this.places) {
      const m = markerMatrix(p.a, this.motion, this.matrix);
      this.matrix = m;
      m.extractBasis(p.x, p.y, p.z);
      p.at.setFromMatrixPosition(m);
    }
    this.places.forEach((p, k) => {
      if (!p.left) {
        this.normals[i].copy((this.places[k + 1] ?? this.places[k - 1]).z);
        this.line[i++].copy(p.at);
        return;
      }
      if (k === 0 || !direction(this.places[k - 1], p, p.z, u)) u.copy(p.x); // a drum holds it
      if (k + 1 === this.places.length || !direction(p, this.places[k + 1], p.z, away)) away.copy(p.x);
      const side = Math.sign(p.left), turn = side * Math.atan2(n.crossVectors(u, away).dot(p.z), u.dot(away));
      const angle = side * (turn < -1e-9 ? turn + 2 * Math.PI : turn);
      for (let j = 0; j <= ARC; j++, i++) {
        n.crossVectors(p.z, u).applyAxisAngle(p.z, angle * j / ARC);
        this.line[i].copy(p.at).addScaledVector(n, -p.left);
        this.normals[i].copy(p.z);
      }
    });
  }

  update() {
    this.trace();
    const {line, thick} = this, last = line.length - 1, t = new Vector3(), y = new Vector3(), z = new Vector3();
    line.forEach((p, i) => {
      t.copy(line[Math.min(last, i + 1)]).sub(line[Math.max(0, i - 1)]).normalize();
      y.copy(this.normals[i]).projectOnPlane(t);
      if (y.lengthSq() < 1e-6) y.set(Math.abs(t.x) < 0.7 ? 1 : 0, Math.abs(t.x) < 0.7 ? 0 : 1, 0).projectOnPlane(t);
      z.crossVectors(t, y.normalize());
      this.tube.station(i, p.toArray(), t.toArray(), y.toArray(), z.toArray(), 2 * thick, 2 * thick);
    });
    this.tube.done();
  }
}
