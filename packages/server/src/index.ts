export type { App } from './app/app.ts'
