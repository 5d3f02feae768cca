import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { exitCodes } from '../exit-codes.ts'

export const modelsVerify = defineCommand({
  name: 'models verify',
  summary: 'Verify the hash of an installed model; a changed one is disabled',
  args: { id: 'the model' },
  examples: ['gatehouse models verify qwen2.5-0.5b-instruct-q4_k_m'],
  run: ({ api }, { id }) => api.verifyModel({ id }),
  text: ({ id, verified, detail, expected_sha256 }) =>
    escapeText(
      verified
        ? `${id} is what was installed: sha256 ${expected_sha256}.`
        : `${id} IS NOT WHAT WAS INSTALLED: ${detail ?? 'its hash differs'}.`,
    ),
  exitCode: ({ verified }) => (verified ? exitCodes.done : exitCodes.failed),
})
