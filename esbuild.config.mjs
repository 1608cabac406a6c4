/**
 * `npm run build`: one self-contained ES module for each function, and one for the command line, in `dist` or in the
 * folder that `--outdir=` names. Prints the sizes; ends with 1 when a function's bundle is above the limit.
 */
import { readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'

/** Bytes. A bundle's size is most of a cold start. */
const FUNCTION_LIMIT = 1024 * 1024

/**
 * undici brings its HTTP parser twice, with and without SIMD, 71 KB each. The plain one runs everywhere, and a run
 * parses a handful of answers: both names mean that one.
 */
const oneHttpParser = {
  name: 'one-http-parser',
  setup(bundler) {
    bundler.onResolve({ filter: /llhttp_simd-wasm\.js$/ }, ({ resolveDir }) => ({
      path: join(resolveDir, '../llhttp/llhttp-wasm.js'),
    }))
  },
}

const outdir = process.argv.find((argument) => argument.startsWith('--outdir='))?.slice('--outdir='.length) ?? 'dist'
const names = (await readdir('functions'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'))
  .sort()
const entries = [
  ...names.map((name) => ({ in: `functions/${name}.ts`, out: name })),
  { in: 'src/cli/main.ts', out: 'queuebell' },
]

await rm(outdir, { recursive: true, force: true })
await build({
  entryPoints: entries,
  outdir,
  outExtension: { '.js': '.mjs' },
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  // The AWS client's ES modules can be shaken; its CommonJS, which would be taken first, cannot.
  mainFields: ['module', 'main'],
  plugins: [oneHttpParser],
  minify: true,
  // Otherwise every Cyrillic letter is written as six characters.
  charset: 'utf8',
  legalComments: 'none',
  // undici and the parser are CommonJS and call require for Node's own modules, which an ES module does not have.
  banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  logLevel: 'warning',
})

// What serverless.yml reads: the framework loads CommonJS.
await build({
  entryPoints: ['src/deployment/serverless.ts'],
  outfile: `${outdir}/serverless.cjs`,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  logLevel: 'warning',
})

let tooLarge = 0
console.log('bundle                        KB   gzip KB')
for (const { out } of entries) {
  const bytes = await readFile(`${outdir}/${out}.mjs`)
  const excess = out !== 'queuebell' && bytes.length > FUNCTION_LIMIT
  if (excess) tooLarge += 1
  const cells = [bytes.length, gzipSync(bytes).length].map((size) => (size / 1024).toFixed(0).padStart(8))
  console.log(`dist/${out}.mjs`.padEnd(26) + cells.join('  ') + (excess ? '  above the limit of 1024 KB' : ''))
}
process.exitCode = tooLarge > 0 ? 1 : 0
