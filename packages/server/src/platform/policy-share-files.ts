import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { GatehouseError } from '@gatehouse/contract'
import type { PolicyBase, PolicyShare } from '../ports/policy-share.ts'
import { readText, writePrivateFile } from './data-directory.ts'

export const policyKeyName = 'policy.key'

/** @SECURITY Without it an older policy could be put back: one that cannot be read is no beginning; shared-policy.test.ts. */
const parseBase = (file: string, text: string): PolicyBase => {
  try {
    const { store, version, mac, files } = JSON.parse(text) as Partial<PolicyBase>
    if (
      typeof store === 'string' &&
      typeof version === 'number' &&
      typeof mac === 'string' &&
      files
    )
      return { store, version, mac, files }
  } catch {
    // Said below, together with every other damage.
  }
  throw new GatehouseError(
    'InvalidConfiguration',
    {
      origin: file,
      detail:
        'is damaged; restore it from a backup, or remove it to take the policy that the database has',
    },
    {
      recovery: [
        { action: `restore ${file}`, description: 'Take it from a backup of this installation.' },
        { action: `rm ${file}`, description: 'Take the policy that the database has.' },
      ],
    },
  )
}

export const createPolicyShare = (dataDir: string): PolicyShare => {
  const keyFile = join(dataDir, policyKeyName)
  const baseFile = join(dataDir, 'policies', '.shared.json')
  return {
    // An empty file is no key: anybody could compute what it authenticates.
    key: () => readText(keyFile) || null,
    createKey() {
      const key = randomBytes(32).toString('base64url')
      writePrivateFile(keyFile, `${key}\n`)
      return key
    },
    base() {
      const text = readText(baseFile)
      return text === null ? null : parseBase(baseFile, text)
    },
    keepBase: (base) => writePrivateFile(baseFile, `${JSON.stringify(base)}\n`),
  }
}
