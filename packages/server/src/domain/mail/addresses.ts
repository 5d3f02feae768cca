const local = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/
const label = /^[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/

/** Fault of an address that mail is to be sent to; null where there is none. */
export const addressFault = (address: string): string | null => {
  if (/[\p{Cc}\p{Cf}\s]/u.test(address)) return 'it has spaces or characters that cannot be seen'
  if (/[<>,;"()]/.test(address)) return 'give the address alone, without a name around it'
  const at = address.lastIndexOf('@')
  if (at < 1) return 'it has no @'
  const [name, domain] = [address.slice(0, at), address.slice(at + 1)]
  if (address.length > 254 || name.length > 64) return 'it is too long'
  if (!local.test(name)) return 'what stands before the @ is not a mailbox'
  const labels = domain.split('.')
  if (!labels.every((one) => label.test(one)))
    return 'what stands after the @ is not a domain; write others than ASCII as xn--…'
  return null
}

/** Fault of a line that is to become a header; null where there is none. */
export const headerFault = (value: string): string | null => {
  if (/[\p{Cc}\u2028\u2029]/u.test(value)) return 'it has a line end or a control character'
  if (/=\?[^?\s]+\?[bq]\?/i.test(value))
    return 'it has an encoded word, which would be read as other text'
  if (!value.isWellFormed()) return 'it has half a character'
  return null
}
