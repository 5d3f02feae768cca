export { openService, type ServeOptions, type Started, serve } from './main.ts'
