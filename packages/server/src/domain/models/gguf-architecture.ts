import { quoted, refuse } from './gguf-cursor.ts'
import type { GgufValue } from './gguf-values.ts'

export type GgufValues = ReadonlyMap<string, GgufValue>

/** Architectures whose required keys are the ones below. Of others only the form is checked. */
const known = new Set([
  'llama',
  'qwen2',
  'qwen3',
  'gemma',
  'gemma2',
  'gemma3',
  'phi3',
  'granite',
  'olmo2',
  'smollm3',
  'internlm2',
  'stablelm',
  'starcoder2',
  'command-r',
])

export const isKnownArchitecture = (name: string): boolean => known.has(name)

/** A whole number, or for a figure that may differ from layer to layer the range of them. */
function rangeOf(
  values: GgufValues,
  key: string,
): { readonly least: number; readonly most: number; readonly length: number | null } | null {
  const value = values.get(key)
  if (value === undefined) return null
  if (value.kind === 'number') return { least: value.value, most: value.value, length: null }
  if (value.kind === 'numbers') return value
  return refuse(`${quoted(key)} must be a number`)
}

function within(values: GgufValues, key: string, least: number, most: number): number {
  const range = rangeOf(values, key) ?? refuse(`${quoted(key)} is missing`)
  if (!(range.least >= least && range.most <= most) || !Number.isInteger(range.most))
    refuse(`${quoted(key)} must lie between ${least} and ${most}, not at ${range.most}`)
  return range.most
}

export const wholeNumber = (values: GgufValues, key: string): number | null => {
  const value = values.get(key)
  if (value?.kind === 'number') return Number.isInteger(value.value) ? value.value : null
  return value?.kind === 'numbers' && Number.isInteger(value.most) ? value.most : null
}

/** Without these, or with others, the engine does not answer with an error: it aborts. */
export function checkArchitecture(values: GgufValues, architecture: string): void {
  const key = (name: string) => `${architecture}.${name}`
  within(values, key('context_length'), 1, 2 ** 31 - 1)
  const embedding = within(values, key('embedding_length'), 1, 2 ** 20)
  const layers = within(values, key('block_count'), 1, 1_024)
  within(values, key('feed_forward_length'), 1, 2 ** 24)
  const heads = within(values, key('attention.head_count'), 1, 4_096)
  if (heads > embedding) refuse(`${quoted(key('attention.head_count'))} exceeds the embedding`)
  if (values.has(key('attention.head_count_kv')))
    within(values, key('attention.head_count_kv'), 1, heads)
  for (const name of ['feed_forward_length', 'attention.head_count', 'attention.head_count_kv']) {
    const length = rangeOf(values, key(name))?.length ?? null
    if (length !== null && length !== layers)
      refuse(`${quoted(key(name))} has ${length} values for ${layers} layers`)
  }
  const epsilon =
    values.get(key('attention.layer_norm_rms_epsilon')) ??
    values.get(key('attention.layer_norm_epsilon'))
  if (epsilon?.kind !== 'number' || !(epsilon.value >= 0 && epsilon.value < 1))
    refuse(`${quoted(key('attention.layer_norm_rms_epsilon'))} is missing or out of range`)
  checkVocabulary(values)
}

function checkVocabulary(values: GgufValues): void {
  if (values.get('tokenizer.ggml.model')?.kind !== 'text')
    refuse('"tokenizer.ggml.model" is missing')
  const tokens = values.get('tokenizer.ggml.tokens')
  if (tokens?.kind !== 'texts') return void refuse('"tokenizer.ggml.tokens" is missing')
  if (tokens.length === 0) refuse('"tokenizer.ggml.tokens" is empty')
  for (const name of ['tokenizer.ggml.scores', 'tokenizer.ggml.token_type']) {
    const value = values.get(name)
    if (value === undefined) continue
    if (value.kind !== 'numbers' || value.length !== tokens.length)
      refuse(`${quoted(name)} must have one number for each of the ${tokens.length} tokens`)
  }
}
