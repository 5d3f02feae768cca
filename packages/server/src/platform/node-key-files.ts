import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeKeyFiles } from '../ports/node-keys.ts'
import { policyKeyName } from './policy-share-files.ts'

const readOrNull = (file: string): string | null => {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw cause
  }
}

export const createNodeKeyFiles = (dataDir: string): NodeKeyFiles => ({
  read() {
    const [cert, key] = ['ca.pem', 'ca-key.pem'].map((name) =>
      readOrNull(join(dataDir, 'tls', name)),
    )
    return {
      vault_key: readOrNull(join(dataDir, 'vault.key')),
      policy_key: readOrNull(join(dataDir, policyKeyName)),
      authority: cert && key ? { cert, key } : null,
    }
  },
})
