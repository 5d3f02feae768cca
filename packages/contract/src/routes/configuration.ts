import { Certificate, Configuration } from '../configuration.ts'
import { defineRoutes } from './define-routes.ts'

export const configurationRoutes = defineRoutes({
  getConfiguration: {
    method: 'GET',
    path: '/api/configuration',
    summary: 'Every active setting and where its value comes from, without secrets',
    permission: 'read',
    answer: Configuration,
  },
  showCertificate: {
    method: 'GET',
    path: '/api/certificate',
    summary: 'The certificate that the dashboard is served with, and the authority to trust',
    permission: 'read',
    answer: Certificate,
    errors: ['Conflict'],
  },
})
