import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PolicyBase, PolicyShare } from '../ports/policy-share.ts'
import { writePrivateFile } from './data-directory.ts'

export const policyKeyName = 'policy.key'

const readOrNull = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw cause
  }
}

const parseBase = (text: string): PolicyBase | null => {
  try {
    const { store, version, mac, files } = JSON.parse(text) as Partial<PolicyBase>
    return typeof store === 'string' &&
      typeof version === 'number' &&
      typeof mac === 'string' &&
      files
      ? { store, version, mac, files }
      : null
  } catch {
    // As for a node that never shared a policy: where both sides differ, the shared text wins and ours is kept aside.
    return null
  }
}

export const createPolicyShare = (dataDir: string): PolicyShare => {
  const keyFile = join(dataDir, policyKeyName)
  const baseFile = join(dataDir, 'policies', '.shared.json')
  return {
    key: () => readOrNull(keyFile),
    createKey() {
      const key = randomBytes(32).toString('base64url')
      writePrivateFile(keyFile, `${key}\n`)
      return key
    },
    base() {
      const text = readOrNull(baseFile)
      return text === null ? null : parseBase(text)
    },
    keepBase: (base) => writePrivateFile(baseFile, `${JSON.stringify(base)}\n`),
  }
}
