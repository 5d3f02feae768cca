import { GatehouseError } from '@gatehouse/contract'
import { ruleFault } from '../../domain/calendar/write-event.ts'
import { addressFault } from '../../domain/mail/addresses.ts'
import { refuse } from './account.ts'

const lineFault = (text: string): string | null =>
  /[\p{Cc}\u2028\u2029]/u.test(text)
    ? 'it has a line end or a control character'
    : text.isWellFormed()
      ? null
      : 'it has half a character'

export const assertTitle = (title: string): void => {
  const fault = title.trim() === '' ? 'it is empty' : lineFault(title)
  if (fault !== null) refuse(`title: ${fault}`)
}

export const assertText = (name: string, text: string): void => {
  if (/[^\P{Cc}\t\n\r]/u.test(text)) refuse(`${name}: it has a control character`)
  if (!text.isWellFormed()) refuse(`${name}: it has half a character`)
}

/** Plain addresses, each once. Raises `InvalidRecipient`. */
export const checkedAttendees = (
  attendees: readonly string[],
  organizer: { readonly address: string } | null,
): string[] => {
  const seen = new Map<string, string>()
  for (const address of attendees) {
    const detail = addressFault(address)
    if (detail !== null) throw new GatehouseError('InvalidRecipient', { address, detail })
    seen.set(address.toLowerCase(), address)
  }
  if (seen.size > 0 && organizer === null)
    refuse('nobody can be invited: an operator has entered no address for this account')
  return [...seen.values()]
}

export const checkedRule = (rule: string): string => {
  const fault = ruleFault(rule)
  if (fault !== null) refuse(`recurrence: ${fault}`)
  return rule.toUpperCase()
}
