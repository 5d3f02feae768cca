import { type KeyValue, type TensorData, type TensorType, writeGguf } from './gguf-writer.ts'

export type ScriptModelOptions = {
  /** `script` always says the same; `random` has real shapes and says nothing of sense. */
  readonly mode?: 'script' | 'random'
  readonly type?: TensorType
  /** Answer of the model to anything: words of letters, the last with its full stop. */
  readonly sentence?: string
  readonly seed?: number
  readonly dim?: number
  readonly layers?: number
  readonly heads?: number
  readonly kvHeads?: number
  readonly ffn?: number
  readonly context?: number
  /** Written instead of, or beside, the usual metadata; null leaves a key out. */
  readonly change?: Readonly<Record<string, KeyValue | null>>
}

const space = '▁'
const template =
  "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}{% endfor %}assistant:"

/** The same numbers everywhere: no function of the platform has a say in them. */
const mulberry32 = (seed: number) => {
  let state = seed >>> 0
  return (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

type Vocabulary = {
  readonly tokens: readonly string[]
  readonly types: readonly number[]
  /** The tokens of the sentence, one a word. */
  readonly words: readonly number[]
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'.split('')

function vocabularyOf(sentence: string): Vocabulary {
  const tokens = ['<unk>', '<s>', '</s>']
  const types = [2, 3, 3]
  const add = (token: string, type: number): number => {
    const known = tokens.indexOf(token)
    if (known !== -1) return known
    tokens.push(token)
    types.push(type)
    return tokens.length - 1
  }
  for (let byte = 0; byte < 256; byte += 1)
    add(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`, 6)
  add(space, 1)
  const words = sentence.split(' ').map((word) => add(space + word, 1))
  // As many letters as there is room for: what they lack, the bytes say.
  for (const letter of letters) if (tokens.length < 318) add(letter, 1)
  for (let i = 0; tokens.length % 32 !== 0; i += 1) add(`<pad${i}>`, 5)
  return { tokens, types, words }
}

/** A random code of +1 and -1 for each token, the first component +1. */
function codesOf(count: number, dim: number, random: () => number): Float32Array {
  const codes = new Float32Array(count * dim)
  for (let i = 0; i < codes.length; i += 1) codes[i] = i % dim === 0 ? 1 : random() < 0.5 ? -1 : 1
  return codes
}

/** Row of a word: the code of the word before it. The first has a bias instead, so that it follows anything. */
function outputOf(codes: Float32Array, dim: number, words: readonly number[]): Float32Array {
  const output = new Float32Array(codes.length)
  const [end, last] = [2, words.at(-1) ?? 0]
  const add = (row: number, token: number) => {
    for (let i = 1; i < dim; i += 1) {
      const at = row * dim + i
      output[at] = (output[at] ?? 0) + (codes[token * dim + i] ?? 0)
    }
  }
  for (const [i, word] of words.slice(1).entries()) add(word, words[i] ?? 0)
  add(end, last)
  add(end, end)
  output[(words[0] ?? 0) * dim] = 0.7 * dim
  return output
}

const usual: Required<ScriptModelOptions> = {
  mode: 'script',
  type: 'Q8_0',
  sentence: 'Hello from the local model.',
  seed: 1,
  dim: 64,
  layers: 2,
  heads: 4,
  kvHeads: 2,
  ffn: 128,
  context: 2_048,
  change: {},
}

/** A small model of the llama family in a file: for tests of everything that is done with models. */
export function scriptModel(options: ScriptModelOptions = {}): Buffer {
  const given = { ...usual, ...options }
  const { mode, type, sentence, seed, dim, layers, heads, kvHeads, ffn, context, change } = given
  const { tokens, types, words } = vocabularyOf(sentence)
  const random = mulberry32(seed)
  const count = tokens.length
  const values: KeyValue[] = [
    { key: 'general.architecture', type: 'text', value: 'llama' },
    { key: 'general.name', type: 'text', value: `gatehouse-${mode}` },
    { key: 'general.file_type', type: 'u32', value: { F32: 0, F16: 1, Q4_0: 2, Q8_0: 7 }[type] },
    { key: 'llama.context_length', type: 'u32', value: context },
    { key: 'llama.embedding_length', type: 'u32', value: dim },
    { key: 'llama.block_count', type: 'u32', value: layers },
    { key: 'llama.feed_forward_length', type: 'u32', value: ffn },
    { key: 'llama.attention.head_count', type: 'u32', value: heads },
    { key: 'llama.attention.head_count_kv', type: 'u32', value: kvHeads },
    { key: 'llama.attention.layer_norm_rms_epsilon', type: 'f32', value: 1e-5 },
    { key: 'llama.rope.dimension_count', type: 'u32', value: dim / heads },
    { key: 'llama.vocab_size', type: 'u32', value: count },
    { key: 'tokenizer.ggml.model', type: 'text', value: 'llama' },
    { key: 'tokenizer.ggml.tokens', type: 'texts', value: tokens },
    { key: 'tokenizer.ggml.scores', type: 'f32s', value: tokens.map((_, i) => -i) },
    { key: 'tokenizer.ggml.token_type', type: 'i32s', value: types },
    { key: 'tokenizer.ggml.bos_token_id', type: 'u32', value: 1 },
    { key: 'tokenizer.ggml.eos_token_id', type: 'u32', value: 2 },
    { key: 'tokenizer.ggml.unknown_token_id', type: 'u32', value: 0 },
    { key: 'tokenizer.ggml.add_bos_token', type: 'bool', value: true },
    { key: 'tokenizer.chat_template', type: 'text', value: template },
  ]
  const normal = () => (random() + random() + random() + random() - 2) * 0.05
  const isScript = mode === 'script'
  const matrix = (name: string, dims: readonly [number, number]): TensorData => ({
    name: `${name}.weight`,
    dims,
    type,
    values: new Float32Array(dims[0] * dims[1]).map(() => (isScript ? 0 : normal())),
  })
  const norm = (name: string): TensorData => ({
    name: `${name}.weight`,
    dims: [dim],
    type: 'F32',
    values: new Float32Array(dim).fill(1),
  })
  const codes = isScript ? codesOf(count, dim, random) : null
  const embedding = { ...matrix('token_embd', [dim, count]), ...(codes ? { values: codes } : {}) }
  const output = {
    ...matrix('output', [dim, count]),
    ...(codes ? { values: outputOf(codes, dim, words) } : {}),
  }
  const narrow = (dim / heads) * kvHeads
  const blocks = Array.from({ length: layers }, (_, n) => [
    norm(`blk.${n}.attn_norm`),
    matrix(`blk.${n}.attn_q`, [dim, dim]),
    matrix(`blk.${n}.attn_k`, [dim, narrow]),
    matrix(`blk.${n}.attn_v`, [dim, narrow]),
    matrix(`blk.${n}.attn_output`, [dim, dim]),
    norm(`blk.${n}.ffn_norm`),
    matrix(`blk.${n}.ffn_gate`, [dim, ffn]),
    matrix(`blk.${n}.ffn_up`, [dim, ffn]),
    matrix(`blk.${n}.ffn_down`, [ffn, dim]),
  ])
  const kept = values.filter(({ key }) => !(key in change))
  const added = Object.values(change).filter((value) => value !== null)
  return writeGguf([...kept, ...added], [embedding, norm('output_norm'), output, ...blocks.flat()])
}
