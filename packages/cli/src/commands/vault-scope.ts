import { usageError } from '../cli-error.ts'
import { defineCommand } from '../define.ts'
import { secretText } from '../secret-text.ts'
import { unlockFirst, unlockOption } from '../unlock-first.ts'
import { scopeOf, scopeOptions } from '../vault-scope-options.ts'

export const vaultScope = defineCommand({
  name: 'vault scope',
  summary: 'Change where a secret may be used; each list replaces the present one',
  args: { name: 'the secret' },
  options: { ...scopeOptions, ...unlockOption },
  examples: [
    'gatehouse vault scope github_token --host api.github.com --agent coder,reviewer',
    'gatehouse vault scope github_token --agent none',
  ],
  async run({ api, io }, { name, 'passphrase-file': passphraseFile, ...given }) {
    const scope = scopeOf(given)
    if (Object.keys(scope).length === 0)
      throw usageError('Say what changes: --capability, --host, --agent or --description.')
    await unlockFirst(api, io, passphraseFile)
    return api.changeSecret({ name, ...scope })
  },
  text: secretText,
})
