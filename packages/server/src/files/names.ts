export const trashName = '.gatehouse-trash'
export const tempPrefix = '.gh-'

/** Names that this service makes while it writes; nobody else's file looks like this. */
export const isTempName = (name: string): boolean =>
  name.startsWith(tempPrefix) && /^\.gh-[0-9a-f]{4}-[0-9a-z]{1,8}-[0-9a-f]{16}$/.test(name)

/**
 * Name as some file system might read it: case folded, compatibility forms and characters that
 * are ignored removed, a stream name and what follows `\` cut off, trailing dots and spaces dropped.
 */
const folded = (name: string): string =>
  (name.split(/[\\:]/, 1)[0] as string)
    .normalize('NFKC')
    .replace(/[\p{Default_Ignorable_Code_Point}\p{Cf}]/gu, '')
    .toLowerCase()
    .replace(/[. ]+$/, '')

/** Only names that begin like this can be taken for a protected one; all others skip the folding. */
const suspect = (name: string): boolean => {
  const first = name.charCodeAt(0)
  return first === 0x2e || first === 0x67 || first === 0x47 || first > 0x7e
}

/** @SECURITY The trash and half-written files are nobody's to address (files.test.ts, trash). */
export const isReserved = (name: string): boolean => {
  if (!suspect(name)) return false
  if (isTempName(name)) return true
  const plain = folded(name)
  return plain === trashName || /^gateho~\d+$/.test(plain)
}

/** @SECURITY Writing `.git` chooses programs that git runs later (confinement.test.ts, F07). */
export const isGit = (name: string): boolean => {
  if (!suspect(name)) return false
  const plain = folded(name)
  return plain === '.git' || /^git~\d+$/.test(plain)
}
