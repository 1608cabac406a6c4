/**
 * `npm run build`: a bundle for each function (`vllm.cjs`) with the small module that loads it (`vllm.mjs`) and the code
 * cache for it (`vllm.<V8>.cache`), and one for the command line, in `dist` or in the folder that `--outdir=` names.
 * Prints the sizes (with `--quiet` of what is too large); ends with 1 when a function's bundle is above the limit.
 *
 * --node=PATH    the Node for which the caches are made, once for each; @default the one that builds
 * --cache=NAME   makes that of this function alone, once for each; @default all
 * --no-cache     none: starts are slower, nothing else changes
 */
import { execFile } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { basename, resolve } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { FOR_NODE, WITH_REQUIRE } from './esbuild.options.mjs'

/** Bytes. A bundle's size is most of a cold start. */
const FUNCTION_LIMIT = 880 * 1024

/*
 * What follows goes beyond plain bundling. Each part is worth at least a tenth of an empty handler's start, measured as
 * in `bench/process-start.ts` with and without it, or is there for the limit of the size and says so; others go.
 */

/**
 * undici brings its HTTP parser twice, with and without SIMD, 71 KB each. The plain one runs everywhere, and a run
 * parses a handful of answers: both names mean that one, and its bytes are carried packed. Worth nothing at the start,
 * but a tenth of the limit of the size.
 */
const oneHttpParser = {
  name: 'one-http-parser',
  setup(bundler) {
    bundler.onResolve({ filter: /llhttp(_simd)?-wasm\.js$/ }, ({ resolveDir }) => ({
      path: resolve(resolveDir, '../llhttp/llhttp-wasm.js'),
      namespace: 'packed',
    }))
    bundler.onLoad({ filter: /./, namespace: 'packed' }, ({ path }) => {
      const bytes = brotliCompressSync(createRequire(import.meta.url)(path)).toString('base64')
      return {
        contents: `module.exports = require('node:zlib').brotliDecompressSync(Buffer.from('${bytes}', 'base64'))`,
      }
    })
  },
}

/**
 * Parts of undici that no request of ours reaches: HTTP/2 is switched off, a SOCKS proxy refused as a setting, and forms
 * are not sent, for which its whole `fetch` would come along. 46 KB of the limit of the size.
 */
const whatRequestsReach = {
  name: 'what-requests-reach',
  setup(bundler) {
    const path = resolve('tools/build/left-out-of-undici.ts')
    bundler.onResolve({ filter: /^(\.\/(client-h2\.js|socks5-proxy-agent)|\.\.\/web\/fetch\/body\.js)$/ }, () => ({
      path,
    }))
  },
}

/**
 * AWS's client describes every operation of S3 in lists whose keys are constants: `{ [_hH]: … }`. A computed key may do anything,
 * so that esbuild keeps all of them, and each is made at every start. With the constant's value in its place only what our
 * three commands need is kept: 50 KB of the limit.
 */
const schemasOfOurCommands = {
  name: 'schemas-of-our-commands',
  setup(bundler) {
    bundler.onLoad({ filter: /client-s3\/dist-es\/schemas\/schemas_0\.js$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const values = new Map([...text.matchAll(/^const (_\w+) = (".*");$/gm)].map(([, name, value]) => [name, value]))
      return {
        contents: text.replaceAll(/\[(_\w+)\]:/g, (key, name) => (values.has(name) ? `${values.get(name)}:` : key)),
      }
    })
  },
}

/** undici is loaded with the first request that it makes, not with the bundle: a run of `heartbeat-check` has none. Worth 0.2. */
const undiciWhenUsed = {
  name: 'undici-when-used',
  setup(bundler) {
    bundler.onResolve({ filter: /^undici\// }, ({ kind, path, resolveDir }) =>
      kind === 'import-statement' ? { path, namespace: 'when-used', pluginData: { resolveDir } } : undefined,
    )
    bundler.onLoad({ filter: /./, namespace: 'when-used' }, ({ path, pluginData: { resolveDir } }) => ({
      contents: `export default function (...given) {
        const used = require('${path}')
        return new.target ? new used(...given) : used(...given)
      }`,
      resolveDir,
    }))
  },
}

/**
 * In Lambda, credentials lie in variables (see `s3-client.ts`). The other places that AWS's client knows, from profiles
 * to instances, take longer to load than the rest of it: they are a bundle of their own, loaded where credentials lie
 * nowhere else. Relative to the bundle that asks.
 */
const otherCredentialsWhenAsked = {
  name: 'other-credentials-when-asked',
  setup(bundler) {
    bundler.onResolve({ filter: /^@aws-sdk\/credential-provider-node$/ }, ({ pluginData, path }) =>
      pluginData === 'itself' ? undefined : { path, namespace: 'when-asked' },
    )
    bundler.onLoad({ filter: /./, namespace: 'when-asked' }, () => ({
      contents: `
        const load = (init) => import('./credentials.cjs').then((chain) => (chain.default ?? chain).defaultProvider(init))
        export const defaultProvider = (init) => {
          let loaded
          return async (identity) => (await (loaded ??= load(init)))(identity)
        }`,
      resolveDir: process.cwd(),
    }))
    bundler.onResolve({ filter: /^\.\/credentials\.cjs$/ }, ({ path }) => ({ path, external: true }))
  },
}

/**
 * One export of a module, carried packed and unpacked when it is first read: for the limit of the size alone.
 * @param contents what exports it, as text; relative to the file that imports the module.
 */
const packedUntilRead = ({ name, filter, contents, exported }) => ({
  name,
  setup(bundler) {
    bundler.onResolve({ filter }, ({ resolveDir, path, namespace }) =>
      namespace === 'file' ? { path, namespace: name, pluginData: { resolveDir } } : undefined,
    )
    bundler.onLoad({ filter: /./, namespace: name }, async ({ pluginData: { resolveDir } }) => {
      const stdin = { contents, resolveDir, loader: 'ts' }
      const { outputFiles } = await build({ ...FOR_NODE, format: 'iife', globalName: 'unpacked', stdin, write: false })
      const bytes = brotliCompressSync(outputFiles[0].contents).toString('base64')
      return {
        contents: `
          const { brotliDecompressSync } = require('node:zlib')
          let real
          const unpack = () =>
            new Function(brotliDecompressSync(Buffer.from('${bytes}', 'base64')) + ';return unpacked.${exported}')()
          Object.defineProperty(exports, '${exported}', { enumerable: true, get: () => (real ??= unpack()) })`,
      }
    })
  },
})

/** The library that reads workers' calendars: 20 KB of the limit. */
const calendarsPacked = packedUntilRead({
  name: 'calendars',
  filter: /^croner$/,
  contents: "export { Cron } from 'croner'",
  exported: 'Cron',
})

/** The Russian words, which most runs do not write: 46 KB of the limit. */
const russianPacked = packedUntilRead({
  name: 'russian',
  filter: /^\.\/ru\.ts$/,
  contents: "export { ru } from './ru.ts'",
  exported: 'ru',
})

/**
 * OpenTelemetry's packages are a bundle of their own, loaded where a collector is named: no function grows by them.
 * Relative to the bundle that asks.
 */
const telemetryWhenAsked = {
  name: 'telemetry-when-asked',
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\/otlp\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './telemetry.cjs', external: true } : undefined,
    )
  },
}

const asked = (name) =>
  process.argv.flatMap((argument) => (argument.startsWith(`--${name}=`) ? [argument.slice(name.length + 3)] : []))
const [outdir = 'dist'] = asked('outdir')
const nodes = process.argv.includes('--no-cache') ? [] : asked('node').length > 0 ? asked('node') : [process.execPath]
const names = (await readdir('functions'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'))
  .sort()

await rm(outdir, { recursive: true, force: true })
const define = { BUILT_VERSION: JSON.stringify(JSON.parse(await readFile('package.json', 'utf8')).version) }
const plugins = [
  oneHttpParser,
  whatRequestsReach,
  schemasOfOurCommands,
  undiciWhenUsed,
  otherCredentialsWhenAsked,
  calendarsPacked,
  russianPacked,
  telemetryWhenAsked,
]
// Worth 0.1.
const alias = { '@smithy/core/event-streams': resolve('tools/build/no-event-streams.ts') }

/** A script has no `import()` of its own: what is loaded when asked for is required. */
const AS_SCRIPT = {
  ...FOR_NODE,
  format: 'cjs',
  supported: { 'dynamic-import': false },
  outExtension: { '.js': '.cjs' },
}
await build({
  ...AS_SCRIPT,
  entryPoints: names.map((name) => ({ in: `functions/${name}.ts`, out: name })),
  outdir,
  alias,
  plugins,
  define,
})
await build({
  ...AS_SCRIPT,
  stdin: { contents: "export { defaultProvider } from '@aws-sdk/credential-provider-node'", resolveDir: process.cwd() },
  outfile: `${outdir}/credentials.cjs`,
  outExtension: {},
})
await build({
  ...AS_SCRIPT,
  entryPoints: ['src/telemetry/otlp.ts'],
  outfile: `${outdir}/telemetry.cjs`,
  outExtension: {},
})
await build({
  ...FOR_NODE,
  entryPoints: [{ in: 'src/cli/main.ts', out: 'queuebell' }],
  outdir,
  outExtension: { '.js': '.mjs' },
  alias,
  plugins: plugins.filter((plugin) => plugin !== otherCredentialsWhenAsked), // one file that needs no other
  banner: WITH_REQUIRE,
  define,
})
for (const name of names)
  await build({
    ...FOR_NODE,
    stdin: {
      contents: `import { load } from './loader.ts'
        export const { handler } = load(import.meta.dirname + '/${name}.cjs')`,
      resolveDir: resolve('tools/build'),
    },
    outfile: `${outdir}/${name}.mjs`,
  })

// What serverless.yml reads: the framework loads CommonJS.
await build({
  entryPoints: ['tools/deploy/serverless.ts'],
  outfile: `${outdir}/serverless.cjs`,
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'cjs',
  logLevel: 'warning',
})

if (nodes.length > 0) await makeCaches()

let tooLarge = 0
const quiet = process.argv.includes('--quiet')
if (!quiet) console.log('bundle                        KB   gzip KB')
for (const file of [...names.map((name) => `${name}.cjs`), 'queuebell.mjs', 'credentials.cjs', 'telemetry.cjs']) {
  const bytes = await readFile(`${outdir}/${file}`)
  const excess = names.includes(basename(file, '.cjs')) && bytes.length > FUNCTION_LIMIT
  if (excess) tooLarge += 1
  const cells = [bytes.length, gzipSync(bytes).length].map((size) => (size / 1024).toFixed(0).padStart(8))
  if (!quiet || excess)
    console.log(`dist/${file}`.padEnd(26) + cells.join('  ') + (excess ? '  above the limit of 1024 KB' : ''))
}
process.exitCode = tooLarge > 0 ? 1 : 0

/** By each Node, a process for each function: what one has compiled must not look used by another. */
async function makeCaches() {
  const warm = `${outdir}/warm.mjs`
  const cached = names.filter((name) => asked('cache').length === 0 || asked('cache').includes(name))
  await build({ ...FOR_NODE, entryPoints: ['tools/build/warm.ts'], outfile: warm })
  const jobs = nodes.flatMap((node) => cached.map((name) => () => promisify(execFile)(node, [warm, outdir, name])))
  const workers = Array.from({ length: availableParallelism() }, async () => {
    for (let job = jobs.shift(); job; job = jobs.shift())
      await job().catch((error) => console.warn(`no code cache, so that starts are slower: ${error.message.trim()}`))
  })
  await Promise.all(workers)
  await rm(warm)
}
