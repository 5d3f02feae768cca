import { existsSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

// A test file asks for programs as it is loaded; `npm test` fetches them while the unit tests run.
const file = process.env.GATEHOUSE_TEST_PROGRAMS
while (file !== undefined && !existsSync(file)) await pause(100)
