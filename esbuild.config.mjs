/**
 * `npm run build`: one self-contained ES module for each function, and one for the command line, in `dist` or in the
 * folder that `--outdir=` names. Prints the sizes (with `--quiet` of what is too large); ends with 1 when a function's bundle is above the limit.
 */
import { readdir, readFile, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, resolve } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { FOR_NODE, WITH_REQUIRE } from './esbuild.options.mjs'

/** Bytes. A bundle's size is most of a cold start. */
const FUNCTION_LIMIT = 1024 * 1024

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
 * The client imports Node's http when it first asks. An import reads everything that a module exports, and of http that
 * is WebSocket too, with the whole of Node's own undici behind it; a require reads nothing. Worth 0.3.
 */
const httpByRequire = {
  name: 'http-by-require',
  setup(bundler) {
    bundler.onResolve({ filter: /^node:http$/ }, ({ kind, path }) =>
      kind === 'dynamic-import' ? { path, namespace: 'by-require' } : undefined,
    )
    bundler.onLoad({ filter: /./, namespace: 'by-require' }, ({ path }) => ({
      contents: `module.exports = require('${path}')`,
    }))
  },
}

/**
 * In Lambda, credentials lie in variables (see `s3-client.ts`). The other places that AWS's client knows, from profiles
 * to instances, take longer to load than the rest of it: they are bundled for themselves, carried as packed text, and
 * loaded where credentials lie nowhere else. Worth 0.4.
 */
const otherCredentialsWhenAsked = {
  name: 'other-credentials-when-asked',
  setup(bundler) {
    const chain = '@aws-sdk/credential-provider-node'
    bundler.onResolve({ filter: new RegExp(`^${chain}$`) }, ({ resolveDir }) => ({
      path: chain,
      namespace: 'when-asked',
      pluginData: { resolveDir },
    }))
    bundler.onLoad({ filter: /./, namespace: 'when-asked' }, async ({ pluginData: { resolveDir } }) => {
      packed ??= pack(`export { defaultProvider } from '${chain}'`, resolveDir)
      return {
        contents: `
          import { brotliDecompressSync } from 'node:zlib'
          const load = (init) => {
            const text = brotliDecompressSync(Buffer.from('${await packed}', 'base64')).toString('base64')
            return import('data:text/javascript;base64,' + text).then((chain) => chain.defaultProvider(init))
          }
          export const defaultProvider = (init) => {
            let loaded
            return async (identity) => (await (loaded ??= load(init)))(identity)
          }`,
      }
    })
  },
}
let packed

/** The library that reads workers' calendars is carried packed, and unpacked where there is one: 20 KB of the limit of the size. */
const calendarsPacked = {
  name: 'calendars-packed',
  setup(bundler) {
    bundler.onResolve({ filter: /^croner$/ }, ({ resolveDir, path, namespace }) =>
      namespace === 'file' ? { path, namespace: 'calendars', pluginData: { resolveDir } } : undefined,
    )
    bundler.onLoad({ filter: /./, namespace: 'calendars' }, async ({ pluginData: { resolveDir } }) => {
      const stdin = { contents: "export { Cron } from 'croner'", resolveDir }
      const { outputFiles } = await build({ ...FOR_NODE, format: 'iife', globalName: 'calendars', stdin, write: false })
      const bytes = brotliCompressSync(outputFiles[0].contents).toString('base64')
      return {
        contents: `
          import { brotliDecompressSync } from 'node:zlib'
          let Real
          const unpack = () =>
            new Function(brotliDecompressSync(Buffer.from('${bytes}', 'base64')) + ';return calendars.Cron')()
          export function Cron(...given) {
            Real ??= unpack()
            return new Real(...given)
          }`,
      }
    })
  },
}

/** The Russian words, which most runs do not write: a function unpacks them with the first message in Russian. 46 KB of the limit of the size. */
const russianPacked = {
  name: 'russian-packed',
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\/ru\.ts$/ }, ({ resolveDir, path, namespace }) =>
      namespace === 'file' ? { path, namespace: 'russian', pluginData: { resolveDir } } : undefined,
    )
    bundler.onLoad({ filter: /./, namespace: 'russian' }, async ({ pluginData: { resolveDir } }) => {
      const stdin = { contents: "export { ru } from './ru.ts'", resolveDir, loader: 'ts' }
      const { outputFiles } = await build({ ...FOR_NODE, format: 'iife', globalName: 'catalogue', stdin, write: false })
      const bytes = brotliCompressSync(outputFiles[0].contents).toString('base64')
      return {
        contents: `
          const { brotliDecompressSync } = require('node:zlib')
          let real
          const unpack = () =>
            new Function(brotliDecompressSync(Buffer.from('${bytes}', 'base64')) + ';return catalogue.ru')()
          Object.defineProperty(exports, 'ru', { enumerable: true, get: () => (real ??= unpack()) })`,
      }
    })
  },
}

/**
 * OpenTelemetry's packages are a bundle of their own, loaded where a collector is named: no function grows by them.
 * Relative to the bundle that asks.
 */
const telemetryWhenAsked = {
  name: 'telemetry-when-asked',
  setup(bundler) {
    bundler.onResolve({ filter: /^\.\/otlp\.ts$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './telemetry.mjs', external: true } : undefined,
    )
  },
}

/** A module with all that it needs, as text in base64. */
async function pack(contents, resolveDir) {
  const { outputFiles } = await build({ ...FOR_NODE, stdin: { contents, resolveDir }, write: false })
  return brotliCompressSync(outputFiles[0].contents).toString('base64')
}

const outdir = process.argv.find((argument) => argument.startsWith('--outdir='))?.slice('--outdir='.length) ?? 'dist'
const names = (await readdir('functions'))
  .filter((file) => file.endsWith('.ts'))
  .map((file) => basename(file, '.ts'))
  .sort()
const entries = [
  ...names.map((name) => ({ in: `functions/${name}.ts`, out: name })),
  { in: 'src/cli/main.ts', out: 'queuebell' },
  { in: 'src/telemetry/otlp.ts', out: 'telemetry' },
]

await rm(outdir, { recursive: true, force: true })
await build({
  ...FOR_NODE,
  entryPoints: entries,
  outdir,
  outExtension: { '.js': '.mjs' },
  // Worth 0.1.
  alias: { '@smithy/core/event-streams': resolve('tools/build/no-event-streams.ts') },
  plugins: [
    oneHttpParser,
    whatRequestsReach,
    undiciWhenUsed,
    httpByRequire,
    otherCredentialsWhenAsked,
    calendarsPacked,
    russianPacked,
    telemetryWhenAsked,
  ],
  banner: WITH_REQUIRE,
  define: { BUILT_VERSION: JSON.stringify(JSON.parse(await readFile('package.json', 'utf8')).version) },
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

let tooLarge = 0
const quiet = process.argv.includes('--quiet')
if (!quiet) console.log('bundle                        KB   gzip KB')
for (const { out } of entries) {
  const bytes = await readFile(`${outdir}/${out}.mjs`)
  const excess = names.includes(out) && bytes.length > FUNCTION_LIMIT
  if (excess) tooLarge += 1
  const cells = [bytes.length, gzipSync(bytes).length].map((size) => (size / 1024).toFixed(0).padStart(8))
  if (!quiet || excess)
    console.log(`dist/${out}.mjs`.padEnd(26) + cells.join('  ') + (excess ? '  above the limit of 1024 KB' : ''))
}
process.exitCode = tooLarge > 0 ? 1 : 0
