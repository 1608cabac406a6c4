/** Bytes of a SHA-256. */
const HASH = 32

/** What became of the cache, for the run's log: where starts are slow, it is worth a line. */
const CODE_CACHE = Symbol.for('queuebell.codeCache')

export function hashOf(bytes: Uint8Array): Buffer {
  return process.getBuiltinModule('node:crypto').createHash('sha256').update(bytes).digest()
}

/**
 * Beside `vllm.cjs`: `vllm.13.6.233.17-node.48-x64.cache`.
 *
 * `v8.cachedDataVersionTag()` would name it, but counts the features of the processor too, on which bytecode does not
 * depend: a cache that was made on another machine would never be found. V8 checks its own tag inside, without them.
 */
export function cacheOf(bundle: string): string {
  return bundle.replace(/\.cjs$/, `.${process.versions.v8}-${process.arch}.cache`)
}

/** Of the source V8 checks no more than its length, and not all bytes of a cache, so both have their hash before it. */
export function sealed(source: Uint8Array, cache: Uint8Array): Buffer {
  return Buffer.concat([hashOf(source), hashOf(cache), cache])
}

/** The script of a bundle of CommonJS; its value is the function that fills `module.exports`. */
export function scriptOf(bundle: string, source: Buffer, cachedData: Buffer | undefined) {
  // AWS's client runs with --expose-gc, which V8 counts among what a cache must have in common with its reader.
  if (cachedData) process.getBuiltinModule('node:v8').setFlagsFromString('--no-expose-gc')
  const { Script } = process.getBuiltinModule('node:vm')
  const text = `(function(exports,require,module){${source.toString('utf8')}\n})`
  return new Script(text, { filename: bundle, ...(cachedData && { cachedData }) })
}

/** Runs the script of a bundle. @returns its exports. */
export function run(bundle: string, script: ReturnType<typeof scriptOf>): Record<string, unknown> {
  const module = { exports: {} }
  script.runInThisContext()(module.exports, process.getBuiltinModule('node:module').createRequire(bundle), module)
  return module.exports
}

/**
 * Loads a bundle with the code cache that lies beside it, where there is one of this very bundle and this V8; else it is
 * compiled as any script is. Nothing here fails because of a cache.
 */
export function load(bundle: string): Record<string, unknown> {
  const source = process.getBuiltinModule('node:fs').readFileSync(bundle)
  const { cachedData, is } = readCache(bundle, source)
  const script = scriptOf(bundle, source, cachedData)
  Object.assign(globalThis, { [CODE_CACHE]: script.cachedDataRejected ? 'refused by V8' : is })
  return run(bundle, script)
}

function readCache(bundle: string, source: Buffer): { cachedData?: Buffer; is: string } {
  try {
    const file = process.getBuiltinModule('node:fs').readFileSync(cacheOf(bundle))
    const cachedData = file.subarray(2 * HASH)
    if (!file.subarray(0, HASH).equals(hashOf(source))) return { is: 'of another build' }
    if (!file.subarray(HASH, 2 * HASH).equals(hashOf(cachedData))) return { is: 'broken' }
    return { cachedData, is: 'used' }
  } catch {
    return { is: 'none for this V8' }
  }
}
