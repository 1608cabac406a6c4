import { createRandom } from '../../tools/simulator/random.ts'

const VOCABULARY = 320
const HEADS = 4
const ALIGNMENT = 32

export interface ModelSize {
  /** A multiple of eight. */
  width: number
  feedForward: number
  layers: number
  /** Tokens that a prompt and its answer may have. */
  context: number
}

const TINY: ModelSize = { width: 64, feedForward: 160, layers: 2, context: 2_048 }

/** GGUF's own numbers: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md */
const TYPE = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const
const F32 = 0
const TOKEN = { normal: 1, unknown: 2, control: 3, byte: 6 } as const

/**
 * A language model of the llama architecture with random weights, as one GGUF file (of 600 KB, unless a size is given): it
 * speaks nonsense, at the cost of a real one, only smaller. The same bytes at each call.
 */
export function tinyModel(seed = 1, model: ModelSize = TINY): Buffer {
  const metadata = [...settings(model), ...tokenizer()]
  const tensors = shapes(model)
  let offset = 0
  const infos = tensors.map(({ name, dimensions }) => {
    const info = [string(name), uint32(dimensions.length), ...dimensions.map(uint64), uint32(F32), uint64(offset)]
    offset += 4 * size(dimensions)
    return Buffer.concat(info)
  })
  const head = Buffer.concat([
    Buffer.from('GGUF'),
    uint32(3),
    uint64(tensors.length),
    uint64(metadata.length),
    ...metadata,
    ...infos,
  ])
  const padding = Buffer.alloc((ALIGNMENT - (head.length % ALIGNMENT)) % ALIGNMENT)
  return Buffer.concat([head, padding, weights(tensors, seed)])
}

function settings({ width, feedForward, layers, context }: ModelSize): Buffer[] {
  return [
    pair('general.architecture', TYPE.string, string('llama')),
    pair('general.name', TYPE.string, string('tiny')),
    pair('llama.context_length', TYPE.uint32, uint32(context)),
    pair('llama.embedding_length', TYPE.uint32, uint32(width)),
    pair('llama.block_count', TYPE.uint32, uint32(layers)),
    pair('llama.feed_forward_length', TYPE.uint32, uint32(feedForward)),
    pair('llama.attention.head_count', TYPE.uint32, uint32(HEADS)),
    pair('llama.attention.head_count_kv', TYPE.uint32, uint32(HEADS)),
    pair('llama.attention.layer_norm_rms_epsilon', TYPE.float32, float32(1e-5)),
    pair('llama.rope.dimension_count', TYPE.uint32, uint32(width / HEADS)),
    pair('llama.vocab_size', TYPE.uint32, uint32(VOCABULARY)),
  ]
}

/** Every byte is a token, as SentencePiece has it, and the rest are short words. */
function tokenizer(): Buffer[] {
  const bytes = Array.from({ length: 256 }, (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`)
  const tokens = ['<unk>', '<s>', '</s>', ...bytes]
  while (tokens.length < VOCABULARY) tokens.push(`▁w${tokens.length}`)
  const kinds = tokens.map((_, index) => {
    if (index === 0) return TOKEN.unknown
    if (index < 3) return TOKEN.control
    return index < 3 + bytes.length ? TOKEN.byte : TOKEN.normal
  })
  const list = (type: number, items: Buffer[]) => Buffer.concat([uint32(type), uint64(items.length), ...items])
  return [
    pair('tokenizer.ggml.model', TYPE.string, string('llama')),
    pair('tokenizer.ggml.tokens', TYPE.array, list(TYPE.string, tokens.map(string))),
    pair(
      'tokenizer.ggml.scores',
      TYPE.array,
      list(
        TYPE.float32,
        tokens.map((_, index) => float32(-index)),
      ),
    ),
    pair('tokenizer.ggml.token_type', TYPE.array, list(TYPE.int32, kinds.map(uint32))),
    pair('tokenizer.ggml.unknown_token_id', TYPE.uint32, uint32(0)),
    pair('tokenizer.ggml.bos_token_id', TYPE.uint32, uint32(1)),
    pair('tokenizer.ggml.eos_token_id', TYPE.uint32, uint32(2)),
    pair('tokenizer.ggml.add_bos_token', TYPE.bool, Buffer.from([1])),
  ]
}

interface Tensor {
  name: string
  /** The fastest-running one first. */
  dimensions: readonly number[]
}

function shapes({ width, feedForward, layers }: ModelSize): Tensor[] {
  const layer = (index: number): Tensor[] => [
    { name: `blk.${index}.attn_norm.weight`, dimensions: [width] },
    { name: `blk.${index}.attn_q.weight`, dimensions: [width, width] },
    { name: `blk.${index}.attn_k.weight`, dimensions: [width, width] },
    { name: `blk.${index}.attn_v.weight`, dimensions: [width, width] },
    { name: `blk.${index}.attn_output.weight`, dimensions: [width, width] },
    { name: `blk.${index}.ffn_norm.weight`, dimensions: [width] },
    { name: `blk.${index}.ffn_gate.weight`, dimensions: [width, feedForward] },
    { name: `blk.${index}.ffn_up.weight`, dimensions: [width, feedForward] },
    { name: `blk.${index}.ffn_down.weight`, dimensions: [feedForward, width] },
  ]
  return [
    { name: 'token_embd.weight', dimensions: [width, VOCABULARY] },
    ...Array.from({ length: layers }, (_, index) => layer(index)).flat(),
    { name: 'output_norm.weight', dimensions: [width] },
    { name: 'output.weight', dimensions: [width, VOCABULARY] },
  ]
}

/** Norms near 1, all else around 0. */
function weights(tensors: readonly Tensor[], seed: number): Buffer {
  const random = createRandom(seed)
  const all = new Float32Array(tensors.reduce((sum, { dimensions }) => sum + size(dimensions), 0))
  let at = 0
  for (const { name, dimensions } of tensors) {
    const middle = name.includes('norm') ? 1 : 0
    const end = at + size(dimensions)
    while (at < end) all[at++] = middle + random.uniform() - 0.5
  }
  return Buffer.from(all.buffer)
}

function size(dimensions: readonly number[]): number {
  return dimensions.reduce((product, one) => product * one, 1)
}

function pair(key: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([string(key), uint32(type), value])
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text)
  return Buffer.concat([uint64(bytes.length), bytes])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function uint64(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt(value))
  return bytes
}

function float32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeFloatLE(value)
  return bytes
}
