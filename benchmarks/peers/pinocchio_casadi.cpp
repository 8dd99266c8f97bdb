// Forward dynamics by Pinocchio's articulated bodies on CasADi's scalar, saved as a CasADi function: what its bindings
// for CasADi make. They are in no package of the index; the headers are.
#include <pinocchio/autodiff/casadi.hpp>
#include <pinocchio/multibody.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <fstream>
#include <string>

using namespace pinocchio;

// One line per joint: axis (x, y, z, sx, sy, sz), parent, rotation by rows, position, mass, mass centre, inertia at it by rows.
static Model read_model(const char *path) {
  std::ifstream file(path);
  Model model;
  int joints;
  file >> joints;
  for (int i = 0; i < joints; i++) {
    std::string axis;
    int parent;
    double v[25];
    file >> axis >> parent;
    for (double &x : v) file >> x;
    const SE3 place(Eigen::Map<Eigen::Matrix<double, 3, 3, Eigen::RowMajor>>(v), Eigen::Map<Eigen::Vector3d>(v + 9));
    const Inertia inertia(v[12], Eigen::Map<Eigen::Vector3d>(v + 13), Eigen::Map<Eigen::Matrix3d>(v + 16));
    const std::string name = "joint" + std::to_string(i);
    JointModel kind = axis == "x"    ? JointModel(JointModelRX())
                      : axis == "y"  ? JointModel(JointModelRY())
                      : axis == "z"  ? JointModel(JointModelRZ())
                      : axis == "sx" ? JointModel(JointModelPX())
                      : axis == "sy" ? JointModel(JointModelPY())
                                     : JointModel(JointModelPZ());
    model.appendBodyToJoint(model.addJoint(parent, kind, place, name), inertia, SE3::Identity());
  }
  return model;
}

int main(int, char **arguments) {
  using Scalar = ::casadi::SX;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  Model numbers = read_model(arguments[1]);
  numbers.gravity.linear() = Eigen::Vector3d(std::stod(arguments[3]), std::stod(arguments[4]), std::stod(arguments[5]));
  const ModelTpl<Scalar> model = numbers.cast<Scalar>();
  DataTpl<Scalar> data(model);
  const int n = model.nv;
  const Scalar q = Scalar::sym("q", n), v = Scalar::sym("v", n), tau = Scalar::sym("tau", n);
  Vector Q(n), V(n), T(n);
  for (int i = 0; i < n; i++) Q(i) = q(i), V(i) = v(i), T(i) = tau(i);
  aba(model, data, Q, V, T, Convention::LOCAL);
  Scalar vdot(n, 1);
  for (int i = 0; i < n; i++) vdot(i) = data.ddq(i);
  ::casadi::Function("forward_dynamics", {q, v, tau}, {vdot}, {"q", "v", "tau"}, {"vdot"}).save(arguments[2]);
}
