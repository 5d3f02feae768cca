import type { ClockStore } from '../../ports/storage.ts'
import type { Db } from './tables.ts'

export const sqlClock = ({ read }: Db): ClockStore => ({
  async read() {
    const row = await read.selectFrom('service_clock').select('ms').executeTakeFirst()
    return row?.ms ?? 0
  },
})
