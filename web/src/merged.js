// Many parts of one shape as one mesh. A software renderer draws each instance on its own, which takes longer than its
// few triangles; here one buffer holds the vertices of all parts, and the shader takes the frame of a part and its colour
// from a texture. Light falls on vertices, not on pixels.
import {BufferAttribute, BufferGeometry, DataTexture, FloatType, Mesh, RGBAFormat, ShaderMaterial, UniformsLib, UniformsUtils} from 'three';

const ROW = 256; // parts in a row of the texture

const vertex = `
uniform highp sampler2D frames;
uniform int each;
varying vec3 shade;
#include <common>
#include <lights_pars_begin>
void main() {
  int part = gl_VertexID / each;
  ivec2 at = ivec2(4 * (part % ${ROW}), part / ${ROW});
  vec4 x = texelFetch(frames, at, 0), y = texelFetch(frames, at + ivec2(1, 0), 0), z = texelFetch(frames, at + ivec2(2, 0), 0);
  vec3 p = position.x * x.xyz + position.y * y.xyz + position.z * z.xyz + texelFetch(frames, at + ivec2(3, 0), 0).xyz;
  vec3 n = normal.x / dot(x.xyz, x.xyz) * x.xyz + normal.y / dot(y.xyz, y.xyz) * y.xyz + normal.z / dot(z.xyz, z.xyz) * z.xyz;
  n = normalize(mat3(viewMatrix) * n);
  vec3 light = ambientLightColor + getHemisphereLightIrradiance(hemisphereLights[0], n)
    + directionalLights[0].color * max(0.0, dot(n, directionalLights[0].direction));
  vec3 c = min(vec3(1), vec3(x.w, y.w, z.w) * light * RECIPROCAL_PI);
  shade = mix(1.055 * pow(c, vec3(1.0 / 2.4)) - 0.055, 12.92 * c, vec3(lessThanEqual(c, vec3(0.0031308))));
  gl_Position = projectionMatrix * viewMatrix * vec4(p, 1);
}`;

const fragment = `
uniform float opacity;
varying vec3 shade;
void main() { gl_FragColor = vec4(shade, opacity); }`;

function repeated(form, count) {
  const {position, normal} = form.attributes, each = position.count, index = form.index.array;
  const all = new Uint32Array(count * index.length), copies = a => {
    const out = new Float32Array(count * a.array.length);
    for (let i = 0; i < count; i++) out.set(a.array, i * a.array.length);
    return new BufferAttribute(out, 3);
  };
  for (let i = 0; i < count; i++) for (let k = 0; k < index.length; k++) all[i * index.length + k] = index[k] + i * each;
  return new BufferGeometry().setAttribute('position', copies(position)).setAttribute('normal', copies(normal)).setIndex(new BufferAttribute(all, 1));
}

// Draws what an instanced mesh holds, which stays for picking.
export class Merged {
  constructor(instanced) {
    const {count, geometry, material} = instanced, rows = Math.ceil(count / ROW);
    this.instanced = instanced;
    this.numbers = new Float32Array(16 * ROW * rows);
    this.texture = new DataTexture(this.numbers, 4 * ROW, rows, RGBAFormat, FloatType);
    const {transparent, opacity, depthWrite, depthTest, polygonOffset, polygonOffsetFactor, polygonOffsetUnits} = material;
    this.mesh = new Mesh(repeated(geometry, count), new ShaderMaterial({
      vertexShader: vertex, fragmentShader: fragment, lights: true, transparent, depthWrite, depthTest, polygonOffset, polygonOffsetFactor, polygonOffsetUnits,
      uniforms: {...UniformsUtils.clone(UniformsLib.lights), frames: {value: this.texture}, each: {value: geometry.attributes.position.count}, opacity: {value: opacity}},
    }));
    this.mesh.frustumCulled = false;
    this.mesh.raycast = () => {};
    instanced.visible = false;
    this.recolor();
  }

  // colours stand where the last row of a frame is 0, 0, 0
  recolor() {
    const c = this.instanced.instanceColor.array;
    for (let i = 0; i < this.instanced.count; i++) for (let k = 0; k < 3; k++) this.numbers[16 * i + 4 * k + 3] = c[3 * i + k];
    this.texture.needsUpdate = true;
  }

  update() {
    const m = this.instanced.instanceMatrix.array, {numbers} = this;
    for (let i = 0; i < 16 * this.instanced.count; i += 4) {
      numbers[i] = m[i];
      numbers[i + 1] = m[i + 1];
      numbers[i + 2] = m[i + 2];
    }
    this.texture.needsUpdate = true;
  }
}
