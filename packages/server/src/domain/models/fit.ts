import type { ModelFit, ModelHeader } from '@gatehouse/contract'

/** Memory of the engine's process before it loads anything. */
const processBytes = 142 * 1024 * 1024
/** Of the weights, for what is computed with them. */
const overhead = 0.1
/** Of what the machine has left, in percent. */
const [fitsPercent, tightPercent] = [70, 95]
const contextDefault = 4_096
/** Without a header: a usual figure for a model of this many bytes, on the safe side. */
const kvBytesPerTokenOf = (weights: number): number =>
  weights < 2 ** 30 ? 32_768 : weights < 4 * 2 ** 30 ? 65_536 : 131_072

/**
 * Whether a machine with `availableBytes` of free memory can run a model, with the weights read into memory
 * (not mapped): what was measured stays a few percent below the estimate.
 */
export function gradeFit(
  sizeBytes: number,
  header: ModelHeader | null,
  availableBytes: number,
): ModelFit {
  const weights = header?.weights_bytes ?? sizeBytes
  const context_tokens = Math.min(header?.context_length ?? contextDefault, contextDefault)
  const perToken = header?.kv_bytes_per_token ?? kvBytesPerTokenOf(weights)
  const needs_bytes = Math.ceil(
    weights + perToken * context_tokens + processBytes + weights * overhead,
  )
  const percent = availableBytes <= 0 ? Infinity : (needs_bytes / availableBytes) * 100
  return {
    grade: percent <= fitsPercent ? 'fits' : percent <= tightPercent ? 'tight' : 'may_not_fit',
    needs_bytes,
    available_bytes: availableBytes,
    context_tokens,
    basis: header ? 'header' : 'size',
  }
}
