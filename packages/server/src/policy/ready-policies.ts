import { readFile } from 'node:fs/promises'
import type { ReadyPolicy } from '@gatehouse/contract'

const folder = new URL('../../policies/', import.meta.url)
const names = ['careful', 'trusted', 'read-only']

/** The comment that a file begins with. */
const summaryOf = (text: string): string =>
  (/^(?:#.*\n)+/.exec(text)?.[0] ?? '').replaceAll(/^#/gm, '').replaceAll(/\s+/g, ' ').trim()

/** The policies that ship to begin with. */
export const readReadyPolicies = (): Promise<readonly ReadyPolicy[]> =>
  Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(`${name}.yaml`, folder), 'utf8')
      return { name, summary: summaryOf(text), text }
    }),
  )
