import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Letters of Maildir's file names. */
const letters: Readonly<Record<string, string>> = {
  '\\Draft': 'D',
  '\\Flagged': 'F',
  '\\Answered': 'R',
  '\\Seen': 'S',
  '\\Deleted': 'T',
}

export type Owner = { readonly uid: number; readonly gid: number }

export type StoredMail = {
  readonly file: string
  readonly flags: string
  readonly bytes: Buffer
}

/** IMAP's spelling of names beyond ASCII (RFC 3501, 5.1.3), which Maildir's folders have too. */
const folderName = (name: string): string =>
  name.replaceAll('&', '&-').replace(/[^\x20-\x7e]+/g, (text) => {
    const utf16 = Buffer.from(text, 'utf16le').swap16()
    return `&${utf16.toString('base64').replace(/=+$/, '').replaceAll('/', ',')}-`
  })

let count = 0

/** A user's mail on the disk: messages can be put there thousands at a time, and be looked at without a client. */
export class Maildir {
  readonly folder: string
  readonly owner: Owner

  constructor(folder: string, owner: Owner) {
    this.folder = folder
    this.owner = owner
  }

  /** `INBOX`, or a folder such as `Sent` or `Work/2026`. */
  #place(mailbox: string): string {
    return mailbox === 'INBOX'
      ? this.folder
      : join(this.folder, `.${folderName(mailbox).replaceAll('/', '.')}`)
  }

  #own(path: string): void {
    if (process.getuid?.() === 0) chownSync(path, this.owner.uid, this.owner.gid)
  }

  #make(mailbox: string): string {
    const place = this.#place(mailbox)
    for (const folder of [
      this.folder,
      place,
      ...['cur', 'new', 'tmp'].map((f) => join(place, f)),
    ]) {
      if (existsSync(folder)) continue
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      this.#own(folder)
    }
    return place
  }

  /** Puts a message there as it is, and returns the name of its file. */
  put(mailbox: string, raw: string | Uint8Array, flags: readonly string[] = []): string {
    count += 1
    const marks = flags.map((flag) => letters[flag] ?? '').toSorted()
    const bytes = Buffer.from(raw)
    const name = `${1_700_000_000 + count}.P${process.pid}Q${count}.test,S=${bytes.length}:2,${marks.join('')}`
    const file = join(this.#make(mailbox), 'cur', name)
    writeFileSync(file, bytes)
    this.#own(file)
    return name
  }

  /** Messages in a folder now, in the order of the files' names. */
  list(mailbox: string): StoredMail[] {
    const place = this.#place(mailbox)
    return ['cur', 'new']
      .flatMap((part) =>
        existsSync(join(place, part))
          ? readdirSync(join(place, part)).map((file) => join(place, part, file))
          : [],
      )
      .toSorted()
      .map((file) => ({
        file,
        flags: /:2,(\w*)$/.exec(file)?.[1] ?? '',
        bytes: readFileSync(file),
      }))
  }
}
