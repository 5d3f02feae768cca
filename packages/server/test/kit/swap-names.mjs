// Exchanges two names in three renames, as fast as it can, where there is no way to do it in one.
import { renameSync } from 'node:fs'

const [a, b] = process.argv.slice(2)
process.stdout.write('swapping\n')
for (;;) {
  renameSync(a, `${a}-`)
  renameSync(b, a)
  renameSync(`${a}-`, b)
}
