import { GatehouseError } from '@gatehouse/contract'

const codes = new Set([
  'MAX_IMAP_NESTING_REACHED',
  'LineTooLarge',
  'LiteralTooLarge',
  'ResponseTooLarge',
  'ResponseProcessingFailed',
  'InvalidResponse',
])

/** Whether an answer came that made no sense, as for a message of too many layers; a server that is away is none. */
export const isGarbled = (error: unknown): boolean => {
  const cause = error instanceof GatehouseError ? error.cause : error
  const code = (cause as { readonly code?: unknown } | null | undefined)?.code
  return typeof code === 'string' && (codes.has(code) || code.startsWith('ParserError'))
}
