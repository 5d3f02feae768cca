/** UIDs as IMAP writes them, `1:400,403`: a mailbox of thousands stays a short line in a cursor. */
export const formatUids = (uids: Iterable<number>): string => {
  const sorted = [...uids].toSorted((a, b) => a - b)
  const parts: string[] = []
  for (let at = 0; at < sorted.length; at += 1) {
    const first = sorted[at] ?? 0
    let last = first
    while (sorted[at + 1] === last + 1) {
      last += 1
      at += 1
    }
    parts.push(first === last ? `${first}` : `${first}:${last}`)
  }
  return parts.join(',')
}

/** The reverse. Only for what `formatUids` made. */
export const parseUids = (text: string): Set<number> => {
  const uids = new Set<number>()
  for (const part of text === '' ? [] : text.split(',')) {
    const [first = '', last = first] = part.split(':')
    for (let uid = Number(first); uid <= Number(last); uid += 1) uids.add(uid)
  }
  return uids
}
