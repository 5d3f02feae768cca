import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { readSecret } from '../read-secret.ts'
import { unlockFirst, unlockOption } from '../unlock-first.ts'

export const vaultRotate = defineCommand({
  name: 'vault rotate',
  summary: 'Give a secret a new value; the old one is erased',
  args: { name: 'the secret' },
  options: {
    file: { value: 'FILE', about: 'the file with the new value (- for the input)' },
    ...unlockOption,
  },
  examples: ['gatehouse vault rotate github_token < new-token.txt'],
  async run({ api, io }, { name, file, 'passphrase-file': passphraseFile }) {
    const value = await readSecret(io, file, 'New value')
    await unlockFirst(api, io, passphraseFile)
    return api.rotateSecret({ name, value })
  },
  text: ({ name, version }) => `${escapeText(name)} has a new value (version ${version}).`,
})
