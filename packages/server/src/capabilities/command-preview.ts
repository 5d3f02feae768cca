import type { Preview } from '@gatehouse/contract'

/** One argument as a shell would need it; for people to read, never to be run. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`

export const commandPreview = (words: readonly string[], note = ''): Preview => ({
  kind: 'command',
  text: words.map(quoted).join(' ') + (note === '' ? '' : `  # ${note}`),
})
