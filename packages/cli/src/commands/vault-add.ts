import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { readSecret } from '../read-secret.ts'
import { unlockFirst, unlockOption } from '../unlock-first.ts'
import { scopeOf, scopeOptions } from '../vault-scope-options.ts'

export const vaultAdd = defineCommand({
  name: 'vault add',
  summary: 'Add a secret; its value is read from the input or a file, never from an argument',
  args: { name: 'the name that agents use' },
  options: {
    ...scopeOptions,
    file: { value: 'FILE', about: 'the file with the value (- for the input)' },
    ...unlockOption,
  },
  examples: [
    'gatehouse vault add github_token --capability network.credentialed_request --host api.github.com --agent coder < token.txt',
    'gatehouse vault add deploy_key --capability git.* --host git.example.org --agent coder --file key.txt',
  ],
  async run({ api, io }, { name, file, 'passphrase-file': passphraseFile, ...scope }) {
    const value = await readSecret(io, file, 'Value')
    await unlockFirst(api, io, passphraseFile)
    return api.addSecret({ name, value, ...scopeOf(scope) })
  },
  text: ({ name, capabilities, agents }, { next }) =>
    capabilities.length === 0 || agents.length === 0
      ? `${escapeText(name)} is kept. Nothing may use it yet: ${next(`vault scope ${escapeText(name)} --capability … --host … --agent …`)}`
      : `${escapeText(name)} is kept. Nobody can read it again, this command included.`,
})
