import { afterAll, afterEach } from 'vitest'
import { closeChanged, closeUnchanged } from './kit.ts'

// A process runs many files and loads `kit.ts` once: hooks in there would be those of its first file alone.
afterEach(closeChanged)
afterAll(closeUnchanged)
