/* A stand-in for Force Dimension's libdhd: the calls that app.operator.haptic uses, with
 * the vendor's documented signatures and return values, over a block of numbers that
 * virtual_force_dimension.py reads and writes. Nothing of the vendor's is in it.
 *
 * cc -shared -fPIC -O1 -o libdhd.so libdhd_standin.c
 */

enum {
    PLUGGED, OPENED, FORCE_ON, BUTTONS, POSITION, VELOCITY = 7, FORCE = 10, SET = 13,
    SIZE = 16
};

static double block[SIZE];
static void (*on_call)(void);

double *standin_block(void) { return block; }
void standin_on_call(void (*function)(void)) { on_call = function; }

static int usable(char id) { return id == 0 && block[PLUGGED] != 0 && block[OPENED] != 0; }

static void push(double x, double y, double z)
{
    block[FORCE] = x;
    block[FORCE + 1] = y;
    block[FORCE + 2] = z;
    block[SET] += 1;
    if (on_call) on_call();
}

int dhdOpen(void)
{
    if (block[PLUGGED] == 0) return -1;
    block[OPENED] = 1;
    return 0;
}

int dhdClose(char id)
{
    block[OPENED] = block[FORCE_ON] = 0;
    push(0, 0, 0);
    return id == 0 ? 0 : -1;
}

int dhdEnableForce(unsigned char value, char id)
{
    if (!usable(id)) return -1;
    block[FORCE_ON] = value;
    return 0;
}

int dhdGetPosition(double *x, double *y, double *z, char id)
{
    if (!usable(id)) return -1;
    if (on_call) on_call();
    *x = block[POSITION];
    *y = block[POSITION + 1];
    *z = block[POSITION + 2];
    return 0;
}

int dhdGetLinearVelocity(double *x, double *y, double *z, char id)
{
    if (!usable(id)) return -1;
    *x = block[VELOCITY];
    *y = block[VELOCITY + 1];
    *z = block[VELOCITY + 2];
    return 0;
}

int dhdSetForce(double x, double y, double z, char id)
{
    if (!usable(id)) return -1;
    if (block[FORCE_ON] == 0) x = y = z = 0;
    push(x, y, z);
    return x * x + y * y + z * z > 144 ? 2 : 0; /* 2: a motor is saturated */
}

int dhdGetButton(int index, char id)
{
    if (!usable(id)) return -1;
    return ((int)block[BUTTONS] >> index) & 1;
}

const char *dhdGetSystemName(char id)
{
    return id == 0 ? "stand-in" : "";
}

const char *dhdErrorGetLastStr(void)
{
    return block[PLUGGED] ? "no error" : "no device found";
}
