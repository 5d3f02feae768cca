/** One file inside a backup; folders are what stands before `/` in names. */
export type PackedFile = {
  readonly path: string
  readonly size: number
  readonly content: AsyncIterable<Uint8Array>
}

export type Manifest = {
  readonly made_at: string
  readonly version: string
  readonly node: string
  readonly engine: string
  readonly workspaces: boolean
}

export const headLength = 4

const head = (value: object): Buffer => {
  const text = Buffer.from(JSON.stringify(value))
  const length = Buffer.alloc(headLength)
  length.writeUInt32BE(text.length)
  return Buffer.concat([length, text])
}

/** Lays files one after the other: what each is, then its bytes; at the end, how many there were. */
export async function* pack(
  manifest: Manifest,
  files: AsyncIterable<PackedFile>,
): AsyncGenerator<Uint8Array> {
  yield head({ manifest })
  let count = 0
  for await (const { path, size, content } of files) {
    yield head({ path, size })
    let left = size
    for await (const bytes of content) {
      // A file that grows while it is read is kept as long as it was; the rest is of another moment.
      const taken = bytes.subarray(0, left)
      left -= taken.length
      yield taken
      if (left === 0) break
    }
    if (left > 0) throw new Error(`${path} became shorter while it was read`)
    count += 1
  }
  yield head({ end: count })
}
