// Threads that a test starts from the sources read them as the test itself does.
import { register } from 'node:module'
import { isMainThread } from 'node:worker_threads'

if (!isMainThread) register('./read-sources.mjs', import.meta.url)
