import { GatehouseError } from '@gatehouse/contract'

const form = /^"([^"]*)"$/

/** The strong validator of a record's version. */
export const etagOf = (version: number | string): string => `"${version}"`

/**
 * Versions that `If-Match` asks for; null where any will do. A weak one matches nothing, as RFC 9110 has it.
 * Raises `InvalidParams` for what is no list of validators.
 */
export const versionsOf = (header: string | undefined): readonly string[] | null => {
  if (header === undefined || header.trim() === '*') return null
  return header.split(',').flatMap((entry) => {
    const tag = entry.trim()
    if (!/^(?:W\/)?"[^"]*"$/.test(tag))
      throw new GatehouseError('InvalidParams', {
        detail: `If-Match takes the ETag of the record, in quotes, not ${tag.slice(0, 40)}`,
      })
    const version = form.exec(tag)?.[1]
    return version === undefined ? [] : [version]
  })
}
