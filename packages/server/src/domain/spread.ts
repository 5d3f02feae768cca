/** Place of a name among so many, the same wherever it is asked; names are spread evenly (FNV-1a). */
export const placeAmong = (name: string, count: number): number => {
  let hash = 0x811c9dc5
  for (let at = 0; at < name.length; at += 1)
    hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193)
  return (hash >>> 0) % count
}
