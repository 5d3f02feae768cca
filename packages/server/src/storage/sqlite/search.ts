import { sql } from 'kysely'
import type { SearchDialect } from '../sql/search.ts'
import type { Search } from '../words.ts'

/** Words hold letters and digits only, so nothing in them could end the quotes. */
const matchText = (search: Search): string =>
  search
    .map(({ phrase: { words, prefix }, column }) => {
      const phrase = `"${words.join(' ')}"${prefix ? '*' : ''}`
      return column ? `{${column}} : ${phrase}` : `(${phrase})`
    })
    .join(' AND ')

/** FTS5 without the texts themselves: they are in the entries. */
export const sqliteSearch: SearchDialect = {
  async put(db, num, { title, sender, text }) {
    await sql`insert or replace into replica_search (rowid, title, sender, text)
      values (${num}, ${title.join(' ')}, ${sender.join(' ')}, ${text.join(' ')})`.execute(db)
  },

  async remove(db, nums) {
    if (nums.length === 0) return
    await sql`delete from replica_search where rowid in (${sql.join(nums)})`.execute(db)
  },

  matches: (search) =>
    sql<boolean>`num in (select rowid from replica_search where replica_search match ${matchText(search)})`,
}
