// Device
